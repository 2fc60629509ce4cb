import { isCaseKept } from '@tandem/case-kit'
import { sql } from 'kysely'

// The rows that belong to an account because of what they are about. The statements that erase them use the same. An
// array, unlike a subquery, is looked up in an index also beside an `or`; else each erasure reads all likes.

/** Whether a row with a `post_id` is on a post of the account. */
export const isOnPostOf = (accountId: string) =>
  sql<boolean>`post_id = any(array(select id from posts where author_id = ${accountId}::uuid))`

/** Whether a row with a `story_id` is about a story of the account. */
export const isAboutStoryOf = (accountId: string) =>
  sql<boolean>`story_id = any(array(select id from stories where author_id = ${accountId}::uuid))`

/** The comments of an account, and all on its posts. */
export const ofComments = (accountId: string) =>
  sql<boolean>`(deleted_at is null and (author_id = ${accountId}::uuid or ${isOnPostOf(accountId)}))`

/** Reports of things of the account. */
export const isInCaseOf = (accountId: string) =>
  sql<boolean>`case_id = any(array(select id from cases where account_id = ${accountId}::uuid))`

/** Reports of things of the account whose case has to stay. */
export const isInKeptCaseOf = (accountId: string) =>
  sql<boolean>`case_id in (select id from cases where account_id = ${accountId}::uuid and ${isCaseKept})`
