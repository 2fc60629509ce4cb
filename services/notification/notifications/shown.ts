import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { isNotHidden } from '@tandem/account-kit'

/**
 * The actor of a row of `notifications`, as others may see them: of a digest of likes the latest liker who is not hidden.
 * Null if there is none.
 */
export const visibleActor = sql<string | null>`
  case
    when notifications.actor_id is null or ${isNotHidden(sql`notifications.actor_id`)} then notifications.actor_id
    when notifications.kind = 'postLiked' then (
      select liked_by from post_likes
      where notification_id = notifications.id and liked and ${isNotHidden(sql`liked_by`)}
      order by changed_at desc, liked_by limit 1)
  end`

/** How many people a row of `notifications` reports besides its `visibleActor`: of a digest, those who are not hidden. */
export const visibleOthersCount = sql<number>`
  case when others_count = 0 then 0 else greatest(0, others_count - (
    select count(*)::int from post_likes
    where notification_id = notifications.id and liked and not ${isNotHidden(sql`liked_by`)})) end`

/** Whether a row of `notifications` is about something of a person who is hidden now, or only of hidden people's doing. */
export const isOfHiddenPeople = sql<SqlBool>`(
  (notifications.actor_id is not null and ${visibleActor} is null)
  or (owner_id <> notifications.account_id and not ${isNotHidden(sql`owner_id`)}))`

/** Whether the inbox shows a row of `notifications`. The unread count, the list and the realtime frames all ask this. */
export const isShown = sql<SqlBool>`(listed and removed_at is null and not coalesce(${isOfHiddenPeople}, false))`

// A count of an inbox that somebody has filled would take seconds, and hold up those who are read together with it.
const MAX_COUNTED = sql.lit(10_000)

/** How many unread notifications the inbox of an account shows, up to 10,000. */
export const unreadCountOf = (accountId: RawBuilder<unknown>) =>
  sql<number>`(
  select count(*)::int from (
    select from notifications
    where notifications.account_id = ${accountId} and read_at is null and ${isShown} limit ${MAX_COUNTED}) unread)`

/**
 * The unread counts of the accounts of `rows`, as rows of `account_id` and `count`: each is counted once, however many of
 * its rows are read together.
 */
export const unreadCountsOf = (rows: RawBuilder<unknown>) =>
  sql`
    select account_id, ${unreadCountOf(sql`counted.account_id`)} as count
    from (select distinct account_id from ${rows}) counted`
