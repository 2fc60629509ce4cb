import { sql, type RawBuilder, type SqlBool } from 'kysely'

/** A person in a query: an account's id, or a column that holds one. */
export type Someone = string | RawBuilder<string>

export const idOf = (person: Someone) => typeof person === 'string' ? sql<string>`${person}::uuid` : person

// The tables have names of their own in here, lest they hide columns that come from outside. `offset 0` keeps Postgres from reading
// all of somebody's follows, blocks, or likes into memory to answer for the twenty posts of a page: each is a look into an index. Whatever
// asks `exists` for each row of a page needs it.

/** Neither has blocked the other. */
export const notBlocked = (one: Someone, other: Someone) => sql<SqlBool>`not exists (
  select from blocks block where block.account_id = ${idOf(one)} and block.other_id = ${idOf(other)} and not block.lifted offset 0)`

export const isFollowing = (follower: Someone, followed: Someone) => sql<SqlBool>`exists (
  select from follows follow where follow.follower_id = ${idOf(follower)} and follow.followed_id = ${idOf(followed)} offset 0)`

export const isMatched = (one: Someone, other: Someone) => sql<SqlBool>`exists (
  select from matches match where match.account_id = ${idOf(one)} and match.other_id = ${idOf(other)} and not match.ended offset 0)`
