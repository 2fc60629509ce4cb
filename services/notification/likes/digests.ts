import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

/** Recomputes the latest liker and the number of others of a digest; returns undefined if no like is left. */
export async function refreshDigest (trx: Trx, notificationId: string) {
  const { rows } = await sql<{ dedupeKey: string, isListed: boolean }>`
    update notifications set actor_id = latest.liked_by, others_count = latest.likes - 1
    from (
      select liked_by, count(*) over ()::int as likes from post_likes
      where notification_id = ${notificationId} and liked
      order by changed_at desc, liked_by limit 1
    ) latest
    where id = ${notificationId}
    returning dedupe_key as "dedupeKey", listed and removed_at is null as "isListed"`.execute(trx)
  return rows[0]
}

/** Removes a person's likes from all digests of `accountId`; returns the notifications in which no like is left. */
export async function removeLikesBetween (trx: Trx, { accountId, likedBy }: { accountId: string, likedBy: string }) {
  const { rows } = await sql<{ notificationId: string }>`
    update post_likes set liked = false, notification_id = null
    from notifications
    where notifications.account_id = ${accountId} and notifications.kind = 'postLiked'
      and notifications.listed and notifications.removed_at is null
      and post_likes.notification_id = notifications.id and post_likes.liked_by = ${likedBy}
    returning notifications.id as "notificationId"`.execute(trx)
  const emptied: string[] = []
  for (const { notificationId } of rows) if (!await refreshDigest(trx, notificationId)) emptied.push(notificationId)
  return emptied
}
