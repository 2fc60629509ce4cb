import { sql, type Expression } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'

/** An account id, or an expression that yields one. */
type AccountId = string | Expression<string>

/**
 * Whether the current profile's owner has not blocked `accountId`. Ignores whether the profile is paused or suspended.
 */
export const hasNotBlocked = (accountId: AccountId) =>
  sql<boolean>`
  not exists (select from blocks where blocked_id = ${accountId} and blocker_id = profiles.account_id)`

/** Whether `accountId` has blocked the current profile's owner. */
export const isBlockedBy = (accountId: AccountId) =>
  sql<boolean>`
  exists (select from blocks where blocker_id = ${accountId} and blocked_id = profiles.account_id)`

/** Whether `accountId` is matched with the current profile's owner. */
export const isMatchedWith = (accountId: AccountId) =>
  sql<boolean>`
  exists (select from matches
    where ended_at is null and low_id = least(profiles.account_id, ${accountId})
      and high_id = greatest(profiles.account_id, ${accountId}))`

/** Whether `accountId` and the current profile's owner chose each other: they are matched, or sport buddies. */
export const isConnectedWith = (accountId: AccountId) =>
  sql<boolean>`(${isMatchedWith(accountId)} or exists (select from buddies
    where low_id = least(profiles.account_id, ${accountId}) and high_id = greatest(profiles.account_id, ${accountId})))`

/** Whether two people have finished an activity together. */
export const haveTrainedTogether = (one: AccountId, other: AccountId) =>
  sql<boolean>`exists (
    select from activity_participants mine
    join activity_participants theirs on theirs.activity_id = mine.activity_id and theirs.account_id = ${other}
    join activities past on past.id = mine.activity_id
    where mine.account_id = ${one} and mine.state = 'GOING' and theirs.state = 'GOING' and past.status = 'FINISHED')`

/**
 * Whether `viewer` can see the current profile. Every path from one person to another checks this. Blocked people, in
 * either direction, suspended profiles and hidden people are invisible. A paused profile is visible only to its owner
 * and its matches.
 */
export const isVisibleTo = (viewer: AccountId) =>
  sql<boolean>`(
  not profiles.suspended
  and (not profiles.paused or profiles.account_id = ${viewer} or ${isMatchedWith(viewer)})
  and not ${isBlockedBy(viewer)}
  and (profiles.account_id = ${viewer} or ${isNotHidden(sql`profiles.account_id`)})
  and ${hasNotBlocked(viewer)})`
