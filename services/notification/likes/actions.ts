import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { writeNotices } from '../inbox/actions.ts'
import { planNotification, type NotificationRequest } from '../inbox/planning.ts'
import { findRecipients, type Recipient } from '../inbox/recipients.ts'
import { lockInboxes, removeNotices } from '../inbox/withdrawals.ts'
import type { Waiting } from '../push/pushes.ts'
import type { Trx } from '../tables.ts'
import { refreshDigest } from './digests.ts'

interface Like { eventId: string, sequence: number, postId: string, authorId: string, likedBy: string, excerpt: string | null }

/**
 * Tells an author of a like. The first one begins a notice, which those of the next minute join; the push waits for its end.
 * Whoever likes, thinks better of it and likes again is told of once.
 */
export async function addToDigest (deps: Deps, like: Like, at: Date) {
  const [[author] = []] = await findRecipients(deps, [{ to: [like.authorId], actorId: like.likedBy }])
  if (!author) return
  const waiting = await deps.db.transaction().execute(async (trx) => {
    const gathering = await lockGathering(trx, like.postId)
    const isNews = await keepLike(trx, like, at)
    if (!isNews) return []
    if (gathering.noticeId && gathering.isOpen && await joinNotice(trx, gathering.noticeId, like)) return []
    return await beginNotice(trx, deps, like, author, at)
  })
  await deps.pushes.offer(waiting)
}

interface Unlike { sequence: number, postId: string, authorId: string, unlikedBy: string }

/** Takes a like out of the notice that was to tell of it, if that was neither read nor pushed. */
export async function forgetLike ({ db }: Deps, { sequence, postId, authorId, unlikedBy }: Unlike, at: Date) {
  await db.transaction().execute(async (trx) => {
    await lockGathering(trx, postId)
    const { rows } = await sql<{ noticeId: string | null }>`
      insert into post_likes (post_id, liked_by, liked, changed_at, sequence) values (${postId}, ${unlikedBy}, false, ${at}, ${sequence})
      on conflict (post_id, liked_by) do update set liked = false, changed_at = excluded.changed_at, sequence = excluded.sequence
        where ${isLater}
      returning notice_id as "noticeId"`.execute(trx)
    const noticeId = rows[0]?.noticeId
    if (!noticeId) return

    await lockInboxes(trx, [authorId])
    const { rows: untold } = await sql`
      select from notices where id = ${noticeId} and read_at is null
        and not exists (select from deliveries where notice_id = notices.id and (status = 'sent' or claimed_until > now()))`.execute(trx)
    if (untold.length === 0) return
    await trx.updateTable('post_likes').set({ notice_id: null }).where('post_id', '=', postId).where('liked_by', '=', unlikedBy).execute()
    if (await refreshDigest(trx, noticeId)) return
    await removeNotices(trx, [authorId], sql`id = ${noticeId}`)
  })
}

// Likes of a social service that does not number its events yet are told apart by time.
const isLater = sql`(post_likes.sequence, post_likes.changed_at) < (excluded.sequence, excluded.changed_at)`

/** Takes the post's likes until the end of the transaction. */
async function lockGathering (trx: Trx, postId: string) {
  const { rows } = await sql<{ noticeId: string | null, isOpen: boolean }>`
    insert into like_gatherings (post_id, ends_at) values (${postId}, now())
    on conflict (post_id) do update set post_id = excluded.post_id
    returning notice_id as "noticeId", ends_at > clock_timestamp() as "isOpen"`.execute(trx)
  return rows[0] ?? { noticeId: null, isOpen: false }
}

/** Notes a like; returns whether the author is to be told: not of a repeat, of one that was taken back since, or a second time. */
async function keepLike (trx: Trx, { sequence, postId, likedBy }: Like, at: Date) {
  const { rows } = await sql<{ noticeId: string | null }>`
    insert into post_likes (post_id, liked_by, liked, changed_at, sequence) values (${postId}, ${likedBy}, true, ${at}, ${sequence})
    on conflict (post_id, liked_by) do update set liked = true, changed_at = excluded.changed_at, sequence = excluded.sequence
      where ${isLater}
    returning notice_id as "noticeId"`.execute(trx)
  return rows[0] !== undefined && rows[0].noticeId === null
}

async function joinNotice (trx: Trx, noticeId: string, { postId, authorId, likedBy }: Like) {
  await lockInboxes(trx, [authorId])
  const { rows } = await sql<{ wasRead: boolean }>`
    update notices set actor_id = ${likedBy}, others = others + 1, read_at = null
    where id = ${noticeId} and removed_at is null
    returning old.read_at is not null and listed as "wasRead"`.execute(trx)
  if (!rows[0]) return false
  if (rows[0].wasRead) await trx.updateTable('inboxes').set({ unread: sql`unread + 1` }).where('account_id', '=', authorId).execute()
  await attach(trx, { postId, likedBy, noticeId })
  return true
}

async function beginNotice (trx: Trx, { now, gatherLikesFor }: Deps, like: Like, author: Recipient, at: Date): Promise<Waiting[]> {
  const { eventId, postId, likedBy, excerpt } = like
  const telling: NotificationRequest = {
    kind: 'postLiked', cause: `likes:${eventId}`, to: [author.accountId], actorId: likedBy, subjectId: postId, data: { postId }, params: { excerpt }
  }
  const notBefore = new Date(now().getTime() + gatherLikesFor)
  const plan = planNotification(telling, author, { now: now(), happenedAt: at, notBefore })
  const { told, waiting } = await writeNotices(trx, [plan])
  if (!told.has(plan.noticeId)) return []
  await sql`
    update like_gatherings set notice_id = ${plan.noticeId}, ends_at = clock_timestamp() + ${gatherLikesFor} * interval '1 millisecond'
    where post_id = ${postId}`.execute(trx)
  await attach(trx, { postId, likedBy, noticeId: plan.noticeId })
  return waiting.get(plan.noticeId) ?? []
}

async function attach (trx: Trx, { postId, likedBy, noticeId }: { postId: string, likedBy: string, noticeId: string }) {
  await trx.updateTable('post_likes').set({ notice_id: noticeId }).where('post_id', '=', postId).where('liked_by', '=', likedBy).execute()
}
