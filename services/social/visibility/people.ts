import { sql, type RawBuilder } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'

/** A person in a query: an account's id, or a column that holds one. */
export type AccountRef = string | RawBuilder<string>

export const asUuid = (person: AccountRef) => typeof person === 'string' ? sql<string>`${person}::uuid` : person

// The tables have aliases here so that they do not shadow columns of the outer query. `offset 0` keeps Postgres from
// reading all follows, blocks or likes of a person into memory for the twenty posts of a page: each row costs one index
// lookup. Every `exists` that is evaluated per row of a page needs it.

/**
 * Whether `viewer` can see `person` anywhere: neither has blocked the other, and the person is not hidden. Hidden people
 * still see themselves, because this service may learn a moment late that they are back.
 * @param isShown whether the person is not hidden, if the query has read it
 */
export const canSeePerson = (viewer: AccountRef, person: AccountRef, isShown = isNotHidden(asUuid(person))) =>
  sql<boolean>`(not ${isBlocked(viewer, person)} and (${asUuid(person)} = ${asUuid(viewer)} or ${isShown}))`

/** Whether one of the two has blocked the other. */
export function isBlocked (one: AccountRef, other: AccountRef) {
  return sql<boolean>`exists (
  select from blocks block where block.account_id = ${asUuid(one)}
    and block.other_id = ${asUuid(other)} and not block.is_lifted offset 0)`
}

/** Whether the person of a row of `people` is not hidden. Their copy can still be missing: then it is looked up. */
export const isShownInPeople = (person: RawBuilder<string>) =>
  sql<boolean>`coalesce(not people.hidden, ${isNotHidden(person)})`

export const isFollowing = (follower: AccountRef, followed: AccountRef) =>
  sql<boolean>`exists (
  select from follows follow where follow.follower_id = ${asUuid(follower)}
    and follow.followed_id = ${asUuid(followed)} offset 0)`

export const isMatched = (one: AccountRef, other: AccountRef) =>
  sql<boolean>`exists (
  select from matches match where match.account_id = ${asUuid(one)}
    and match.other_id = ${asUuid(other)} and not match.ended offset 0)`
