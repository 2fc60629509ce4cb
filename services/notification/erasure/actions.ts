import { sql } from 'kysely'
import { refreshDigest } from '../likes/digests.ts'
import { lockInboxes } from '../notifications/removal.ts'
import type { Trx } from '../tables.ts'

/** Deletes likes of the person. A digest that others are part of stays, and no longer names or counts the person. */
export async function eraseLikes (trx: Trx, accountId: string, limit: number) {
  const posts = await sql<{ postId: string }>`
    select post_id as "postId" from like_digests where post_id in (
      select post_id from post_likes where liked_by = ${accountId} limit ${sql.lit(limit)}
    ) order by post_id for update`.execute(trx)
  const { rows } = await sql<{ notificationId: string | null }>`
    delete from post_likes where (post_id, liked_by) in (
      select post_id, liked_by from post_likes where liked_by = ${accountId}
        and (post_id = any(${posts.rows.map(({ postId }) => postId)}::uuid[])
          or not exists (select from like_digests where like_digests.post_id = post_likes.post_id))
      limit ${sql.lit(limit)}
    ) returning notification_id as "notificationId"`.execute(trx)
  for (const { notificationId } of rows) if (notificationId) await refreshDigest(trx, notificationId)
  return rows.length
}

/** Deletes the inbox of the person, and what others were notified of because of them. */
export async function eraseNotifications (trx: Trx, accountId: string, limit: number) {
  const isTheirs = sql`(${accountId}::uuid in (account_id, actor_id, owner_id))`
  const { rows: batch } = await sql<{ id: string, accountId: string }>`
    select id, account_id as "accountId" from notifications
    where account_id = ${accountId} or actor_id = ${accountId} or owner_id = ${accountId}
    limit ${sql.lit(limit)}`.execute(trx)
  if (batch.length === 0) return 0
  await lockInboxes(trx, [...new Set(batch.map((row) => row.accountId))])
  const { numAffectedRows } = await sql`
    delete from notifications where id = any(${batch.map(({ id }) => id)}::uuid[]) and ${isTheirs}`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
