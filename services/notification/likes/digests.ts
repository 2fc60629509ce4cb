import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

/** Sets whom a notice of likes names, the latest, and how many others; returns false when nobody is left. */
export async function refreshDigest (trx: Trx, noticeId: string) {
  const { rows } = await sql`
    update notices set actor_id = latest.liked_by, others = latest.likes - 1
    from (
      select liked_by, count(*) over ()::int as likes from post_likes
      where notice_id = ${noticeId} and liked
      order by changed_at desc, liked_by limit 1
    ) latest
    where id = ${noticeId}
    returning id`.execute(trx)
  return rows.length > 0
}

/** Takes somebody out of all likes that `accountId` was told of; returns the notices in which nobody is left. */
export async function forgetLikesBetween (trx: Trx, { accountId, likedBy }: { accountId: string, likedBy: string }) {
  const { rows } = await sql<{ noticeId: string }>`
    update post_likes set liked = false, notice_id = null
    from notices
    where notices.account_id = ${accountId} and notices.kind = 'postLiked' and notices.listed and notices.removed_at is null
      and post_likes.notice_id = notices.id and post_likes.liked_by = ${likedBy}
    returning notices.id as "noticeId"`.execute(trx)
  const emptied: string[] = []
  for (const { noticeId } of rows) if (!await refreshDigest(trx, noticeId)) emptied.push(noticeId)
  return emptied
}
