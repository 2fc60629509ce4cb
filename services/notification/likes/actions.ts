import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { changeInbox } from '../notifications/change-inbox.ts'
import { notify } from '../notifications/notify.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import { findRecipients, hasBlockBetween, type Recipient } from '../notifications/recipients.ts'
import { lockInboxes, removeNotifications } from '../notifications/removal.ts'
import { about } from '../notifications/subjects.ts'
import { lockSubjects } from '../notifications/withdraw.ts'
import { changedFrame, logFrames } from '../frames/log.ts'
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
 * until the minute ends. A person who likes, unlikes and likes again is pushed once.
 */
export async function addToDigest (deps: Deps, like: Like, at: Date) {
  const [[author] = []] = await findRecipients(deps, [
    { kind: 'postLiked', to: [like.authorId], actorId: like.likedBy }
  ])
  if (!author) return
  await changeInbox(deps, async (trx) => {
    await lockPeople(trx, like.authorId, like.likedBy)
    const digest = await lockDigest(trx, like.postId)
    const stored = await upsertLike(trx, like, at)
    if (!stored) return { signal: [] }
    if (stored.notificationId) return await addAgain(trx, deps, like, author, at, stored.notificationId)
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

/** Removes a like from its digest, and withdraws a digest in which no like is left. */
export async function removeFromDigest (deps: Deps, { sequence, postId, authorId, unlikedBy }: Unlike, at: Date) {
  await changeInbox(deps, async (trx) => {
    // A block locks an inbox and then the likes in it, and this does so the other way round.
    await lockPeople(trx, authorId, unlikedBy)
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

    await lockInboxes(trx, [authorId])
    // A like that was never seen is reported like a new one when it is given again.
    if (await isUnseen(trx, notificationId)) await linkLike(trx, { postId, likedBy: unlikedBy, notificationId: null })
    return await reportDigest(trx, authorId, notificationId)
  })
}

/** No block between an author and a person who likes is stored meanwhile. */
const lockPeople = async (trx: Trx, author: string, liker: string) =>
  await lockSubjects(trx, [about.person(author), about.person(liker)], 'SHARED')

/** Whether a digest was neither read nor pushed. */
async function isUnseen (trx: Trx, notificationId: string) {
  const { rows } = await sql`
    select from notifications where id = ${notificationId} and read_at is null and not exists (
      select from deliveries
      where notification_id = notifications.id and (status = 'sent' or claimed_until > now())
    )`.execute(trx)
  return rows.length > 0
}

/** Shows the likes that a digest has now, or withdraws it if there are none. */
async function reportDigest (trx: Trx, authorId: string, notificationId: string) {
  const digest = await refreshDigest(trx, notificationId)
  if (!digest) return await removeNotifications(trx, [authorId], sql`id = ${notificationId}`, { withdrawn: true })
  return { signal: await logFrames(trx, digest.isListed ? [changedFrame(authorId, digest.dedupeKey)] : []) }
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
 * Stores a like. Returns the notification that has reported it before; undefined for a repeated event, a like that was
 * taken back since, and one between people with a block since.
 */
async function upsertLike (trx: Trx, { sequence, postId, authorId, likedBy }: Like, at: Date) {
  const { rows } = await sql<{ notificationId: string | null }>`
    insert into post_likes (post_id, liked_by, liked, changed_at, sequence)
    select ${postId}::uuid, ${likedBy}::uuid, true, ${at}::timestamptz, ${sequence}::bigint
    where not ${hasBlockBetween(sql`${authorId}::uuid`, sql`${likedBy}::uuid`)}
    on conflict (post_id, liked_by)
      do update set liked = true, changed_at = excluded.changed_at, sequence = excluded.sequence
      where ${isNewer}
    returning notification_id as "notificationId"`.execute(trx)
  return rows[0]
}

/** Adds a like that was seen before to the digest that reported it, which comes back if it was withdrawn. */
async function addAgain (trx: Trx, deps: Deps, like: Like, author: Recipient, at: Date, notificationId: string) {
  const withdrawn = await trx.selectFrom('notifications').where('id', '=', notificationId)
    .where('withdrawn', '=', true).select('dedupe_key as dedupeKey').executeTakeFirst()
  if (withdrawn) return await startDigest(trx, deps, like, author, at, withdrawn.dedupeKey)
  await lockInboxes(trx, [author.accountId])
  return await reportDigest(trx, author.accountId, notificationId)
}

/** Returns the connections to wake after the commit, or undefined if the digest was removed. */
async function joinDigest (trx: Trx, notificationId: string, { postId, authorId, likedBy }: Like) {
  await lockInboxes(trx, [authorId])
  const { rows } = await sql<{ dedupeKey: string, listed: boolean }>`
    update notifications set actor_id = ${likedBy}, others_count = others_count + 1, read_at = null
    where id = ${notificationId} and removed_at is null
    returning dedupe_key as "dedupeKey", listed`.execute(trx)
  const [digest] = rows
  if (!digest) return
  await linkLike(trx, { postId, likedBy, notificationId })
  return { signal: await logFrames(trx, digest.listed ? [changedFrame(authorId, digest.dedupeKey)] : []) }
}

async function startDigest (
  trx: Trx,
  { now, likeDigestMs }: Deps,
  like: Like,
  author: Recipient,
  at: Date,
  dedupeKey = `likes:${like.eventId}`
) {
  const { postId, likedBy, sequence, excerpt } = like
  const request: NotificationRequest = {
    kind: 'postLiked',
    dedupeKey,
    to: [author.accountId],
    actorId: likedBy,
    ownerId: author.accountId,
    subjects: [about.post(postId), about.textOf(postId)],
    data: { postId },
    params: { excerpt }
  }
  const hold = { until: new Date(now().getTime() + likeDigestMs), reason: 'waiting for more likes' }
  const notified = await notify(trx, [{ request, recipients: [author], occurredAt: at, sequence, hold }], now())
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

/** Stores which notification reports a like; null: none. */
async function linkLike (
  trx: Trx,
  { postId, likedBy, notificationId }: { postId: string, likedBy: string, notificationId: string | null }
) {
  await trx.updateTable('post_likes').set({ notification_id: notificationId })
    .where('post_id', '=', postId).where('liked_by', '=', likedBy).execute()
}
