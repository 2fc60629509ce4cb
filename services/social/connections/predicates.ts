import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** A person in a query: an account's id, or a column that holds one. */
export type Someone = string | RawBuilder<string>

export const idOf = (person: Someone) => typeof person === 'string' ? sql<string>`${person}::uuid` : person

/** Neither has blocked the other. */
export const unblocked = (one: Someone, other: Someone) => sql<SqlBool>`not exists (
  select from blocks where blocks.account_id = ${idOf(one)} and blocks.other_id = ${idOf(other)} and not blocks.lifted)`

export const isFollowing = (follower: Someone, followed: Someone) => sql<SqlBool>`exists (
  select from follows where follows.follower_id = ${idOf(follower)} and follows.followed_id = ${idOf(followed)})`

export const isMatched = (one: Someone, other: Someone) => sql<SqlBool>`exists (
  select from matches where matches.account_id = ${idOf(one)} and matches.other_id = ${idOf(other)} and not matches.ended)`
