import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { changeInbox } from '../notifications/change-inbox.ts'
import { notify } from '../notifications/notify.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import { findRecipients, type Recipient } from '../notifications/recipients.ts'
import { lockUnreadCounts, removeNotifications } from '../notifications/withdraw.ts'
import { logFrames } from '../frames/log.ts'
import type { Trx } from '../tables.ts'
import { refreshDigest } from './digests.ts'

interface Like {
  eventId: string
  sequence: number
  postId: string
  authorId: string
  likedBy: string
  excerpt: string | null
}

/**
 * Notifies the author of a like. The first like starts a digest, which likes of the next minute join; its push waits
 * until the minute ends. A person who likes, unlikes and likes again is reported once.
 */
export async function addToDigest (deps: Deps, like: Like, at: Date) {
  const [[author] = []] = await findRecipients(deps, [{ to: [like.authorId], actorId: like.likedBy }])
  if (!author) return
  await changeInbox(deps, async (trx) => {
    const digest = await lockDigest(trx, like.postId)
    const isUnreported = await upsertLike(trx, like, at)
    if (!isUnreported) return { signal: [] }
    const joined = digest.notificationId && digest.isOpen && await joinDigest(trx, digest.notificationId, like)
    return joined || await startDigest(trx, deps, like, author, at)
  })
}

interface Unlike {
  sequence: number
  postId: string
  authorId: string
  unlikedBy: string
}

/** Removes a like from its digest, if the digest was neither read nor pushed. */
export async function removeFromDigest (deps: Deps, { sequence, postId, authorId, unlikedBy }: Unlike, at: Date) {
  await changeInbox(deps, async (trx) => {
    await lockDigest(trx, postId)
    const { rows } = await sql<{ notificationId: string | null }>`
      insert into post_likes (post_id, liked_by, liked, changed_at, sequence)
      values (${postId}, ${unlikedBy}, false, ${at}, ${sequence})
      on conflict (post_id, liked_by)
        do update set liked = false, changed_at = excluded.changed_at, sequence = excluded.sequence
        where ${isNewer}
      returning notification_id as "notificationId"`.execute(trx)
    const notificationId = rows[0]?.notificationId
    if (!notificationId) return { signal: [] }

    await lockUnreadCounts(trx, [authorId])
    const { rows: unseen } = await sql`
      select from notifications where id = ${notificationId} and read_at is null and not exists (
        select from deliveries
        where notification_id = notifications.id and (status = 'sent' or claimed_until > now())
      )`.execute(trx)
    if (unseen.length === 0) return { signal: [] }
    await trx.updateTable('post_likes').set({ notification_id: null }).where('post_id', '=', postId).where(
      'liked_by',
      '=',
      unlikedBy
    ).execute()
    if (await refreshDigest(trx, notificationId)) return { signal: [] }
    return await removeNotifications(trx, [authorId], sql`id = ${notificationId}`)
  })
}

// Events without a sequence number (0) are ordered by time.
const isNewer = sql`(post_likes.sequence, post_likes.changed_at) < (excluded.sequence, excluded.changed_at)`

/** Locks the likes of a post until the end of the transaction. */
async function lockDigest (trx: Trx, postId: string) {
  const { rows } = await sql<{ notificationId: string | null, isOpen: boolean }>`
    insert into like_digests (post_id, ends_at) values (${postId}, now())
    on conflict (post_id) do update set post_id = excluded.post_id
    returning notification_id as "notificationId", ends_at > clock_timestamp() as "isOpen"`.execute(trx)
  return rows[0] ?? { notificationId: null, isOpen: false }
}

/**
 * Stores a like; returns false for a repeated event, a like that was taken back since, and one that was reported
 * before.
 */
async function upsertLike (trx: Trx, { sequence, postId, likedBy }: Like, at: Date) {
  const { rows } = await sql<{ notificationId: string | null }>`
    insert into post_likes (post_id, liked_by, liked, changed_at, sequence)
    values (${postId}, ${likedBy}, true, ${at}, ${sequence})
    on conflict (post_id, liked_by)
      do update set liked = true, changed_at = excluded.changed_at, sequence = excluded.sequence
      where ${isNewer}
    returning notification_id as "notificationId"`.execute(trx)
  return rows[0] !== undefined && rows[0].notificationId === null
}

/** Returns the connections to wake after the commit, or undefined if the digest was removed. */
async function joinDigest (trx: Trx, notificationId: string, { postId, authorId, likedBy }: Like) {
  await lockUnreadCounts(trx, [authorId])
  const { rows } = await sql<{ wasRead: boolean, dedupeKey: string, listed: boolean }>`
    update notifications set actor_id = ${likedBy}, others_count = others_count + 1, read_at = null
    where id = ${notificationId} and removed_at is null
    returning old.read_at is not null and listed as "wasRead", dedupe_key as "dedupeKey", listed`.execute(trx)
  const [digest] = rows
  if (!digest) return
  if (digest.wasRead) {
    await trx.updateTable('unread_counts').set({ unread: sql`unread + 1` }).where('account_id', '=', authorId).execute()
  }
  await linkLike(trx, { postId, likedBy, notificationId })
  const frame = { accountId: authorId, type: 'notification.created' as const, ids: { dedupeKey: digest.dedupeKey } }
  return { signal: await logFrames(trx, digest.listed ? [frame] : []) }
}

async function startDigest (
  trx: Trx,
  { now, likeDigestMs }: Deps,
  like: Like,
  author: Recipient,
  at: Date
) {
  const { eventId, postId, likedBy, excerpt } = like
  const request: NotificationRequest = {
    kind: 'postLiked',
    dedupeKey: `likes:${eventId}`,
    to: [author.accountId],
    actorId: likedBy,
    subjectId: postId,
    data: { postId },
    params: { excerpt }
  }
  const hold = { until: new Date(now().getTime() + likeDigestMs), reason: 'waiting for more likes' }
  const notified = await notify(trx, [{ request, recipients: [author], occurredAt: at, hold }], now())
  const [notification] = notified.created
  if (!notification) return notified
  await sql`
    update like_digests set
      notification_id = ${notification.id},
      ends_at = clock_timestamp() + ${likeDigestMs} * interval '1 millisecond'
    where post_id = ${postId}`.execute(trx)
  await linkLike(trx, { postId, likedBy, notificationId: notification.id })
  return notified
}

async function linkLike (
  trx: Trx,
  { postId, likedBy, notificationId }: { postId: string, likedBy: string, notificationId: string }
) {
  await trx.updateTable('post_likes').set({ notification_id: notificationId }).where('post_id', '=', postId).where(
    'liked_by',
    '=',
    likedBy
  ).execute()
}
