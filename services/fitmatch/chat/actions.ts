import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { MessageSent, MessagesRead } from '@tandem/contracts'
import { isRepeat, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import type { StoredImage } from '@tandem/media-kit'
import { chunksOf } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { MatchNotFound } from '../errors.ts'
import { RateLimited } from '@tandem/http-kit'
import { joinVisibleMatch, matchesOf } from '../matches/queries.ts'
import { isTooYoung, readAdult } from '../people/queries.ts'
import { insertWithFiles, keepFiles } from '../photos/files.ts'
import type { Db, Trx } from '../tables.ts'
import { storeImage, type ImageUpload } from './images.ts'
import { retryAfterSeconds, useMessage } from './message-limit.ts'
import { findByClientId, messageColumns, readChat } from './queries.ts'

const MAX_MESSAGE_IDS_PER_EVENT = 500
const READ_AT_ONCE = 2_000

interface NewMessage {
  matchId: string
  content: string | null
  image?: ImageUpload
  clientMessageId?: string
  /** Aborted when the client disconnects. */
  client?: AbortSignal
}

/**
 * Sends a message. A retry with the same client message id or idempotency key returns the first message.
 * @throws `adultErrors`, MatchNotFound, RateLimited, HookDenied, ImageQuotaExceeded
 */
export async function sendMessage (
  deps: Deps,
  senderId: string,
  { image, client, ...message }: NewMessage,
  idempotencyKey?: IdempotencyKey
) {
  const { db, hooks, minAge } = deps
  const isAsked = hooks.isOn('before-message')
  // The first response to the key is not for someone who was suspended since.
  const sender = image || isAsked || idempotencyKey ? await readAdult(deps, senderId) : undefined
  if (image || isAsked) {
    // Checked before the hook is asked and the image is re-encoded. The transaction checks all of it again.
    await readChat(db, senderId, message.matchId)
    const repeated = await findByClientId(db, senderId, message)
    if (repeated) return repeated
    const waitSeconds = await retryAfterSeconds(db, senderId)
    if (waitSeconds !== undefined && !idempotencyKey) throw new RateLimited(waitSeconds)
  }
  if (isAsked && !await isRepeat(db, idempotencyKey)) {
    const { matchId, content } = message
    await hooks.ask('before-message', { accountId: senderId, matchId, content, hasImage: image !== undefined })
  }

  const stored = image && sender ? await storeImage(deps, sender, image, client) : null
  return await insertWithFiles(
    deps,
    stored ? [stored.key] : [],
    async () =>
      await withIdempotencyKey(
        db,
        idempotencyKey,
        async (trx) => await insertMessage({ trx, minAge }, senderId, { ...message, image: stored })
      )
  )
}

interface StoredMessage extends Omit<NewMessage, 'image' | 'client'> {
  image: StoredImage | null
}

/**
 * Messages are written under the match's lock with strictly increasing times, so clients that poll for newer messages
 * never miss or repeat one.
 */
async function insertMessage (
  { trx, minAge }: { trx: Trx, minAge: number },
  senderId: string,
  message: StoredMessage
) {
  const { matchId, content, image, clientMessageId } = message
  const chat = await lockChat({ trx, minAge }, senderId, matchId)
  const repeated = await findByClientId(trx, senderId, message)
  if (repeated) return repeated
  await useMessage(trx, senderId)
  const { sentAt } = await trx.updateTable('matches').where('id', '=', matchId)
    .set({
      last_message_at: sql`greatest(
        date_trunc('milliseconds', clock_timestamp()), last_message_at + interval '1 millisecond')`
    })
    .returning('last_message_at as sentAt')
    .executeTakeFirstOrThrow()
  const sent = await trx.insertInto('messages').values({
    match_id: matchId,
    sender_id: senderId,
    content,
    image_url: image?.key ?? null,
    image_width: image?.width ?? null,
    image_height: image?.height ?? null,
    image_blurhash: image?.blurhash ?? null,
    client_id: clientMessageId ?? null,
    created_at: sentAt!
  })
    .returning(messageColumns)
    .executeTakeFirstOrThrow()
  if (image) await keepFiles(trx, [image.key])
  await stopTyping(trx, senderId, matchId)
  await publish(trx, MessageSent, matchId, {
    matchId,
    messageId: sent.id,
    senderId,
    senderName: chat.ownName,
    senderProfileId: chat.ownProfileId,
    recipientId: chat.otherId,
    hasImage: image !== null
  })
  return sent
}

/**
 * Locks a match in which an account that is not suspended can write, if the other person is visible, and both are old
 * enough to meet people.
 * @throws `adultErrors`, MatchNotFound
 */
async function lockChat ({ trx, minAge }: { trx: Trx, minAge: number }, accountId: string, matchId: string) {
  const { rows: [chat] } = await sql<{ otherId: string, ownName: string, ownProfileId: string }>`
    select profiles.account_id as "otherId", participant.display_name as "ownName",
      participant.id as "ownProfileId"
    from (select ${accountId}::uuid as account_id, ${matchId}::uuid as match_id) as requested
    ${joinVisibleMatch}
    where not ${isTooYoung(minAge)} and not ${isTooYoung(minAge, sql.ref('participant.birth_date'))}
    for update of matches`.execute(trx)
  if (chat) return chat
  await readAdult({ db: trx, minAge }, accountId)
  throw new MatchNotFound()
}

interface ReadMessage {
  id: string
  readAt: Date | null
}

/**
 * Marks the other person's messages as read: all of them, or those up to `until`. A transaction takes READ_AT_ONCE: what
 * somebody has written for days, unread, would exceed the timeout of a statement, and the chat could never be read.
 */
export async function markRead (db: Db, readerId: string, matchId: string, until?: Date): Promise<ReadMessage[]> {
  const unread = db.selectFrom('messages').select('id')
    .where('match_id', '=', matchId)
    .where('sender_id', '<>', readerId)
    .where('read_at', 'is', null)
    .$if(until !== undefined, (query) => query.where('created_at', '<=', until as Date))
    .where((eb) => eb.exists(matchesOf(db, readerId).where('matches.id', '=', matchId).select('matches.id')))
  // Nothing is unread, so there is nothing to publish and no reason to wake the relay.
  if (!await unread.limit(1).executeTakeFirst()) return []
  const marked = await db.transaction().execute(async (trx) => {
    const read = await trx.updateTable('messages').set({ read_at: sql`now()` })
      .where('id', 'in', unread.limit(READ_AT_ONCE))
      .where('read_at', 'is', null)
      .returning(['id', 'sender_id as senderId', 'read_at as readAt'])
      .execute()
    for (const messages of chunksOf(read, MAX_MESSAGE_IDS_PER_EVENT)) {
      const messageIds = messages.map(({ id }) => id)
      await publish(trx, MessagesRead, matchId, { matchId, readerId, senderId: read[0]!.senderId, messageIds })
    }
    return read
  })
  // With fewer, all are read, or another request is reading the others.
  return marked.length < READ_AT_ONCE ? marked : [...marked, ...await markRead(db, readerId, matchId, until)]
}

/**
 * Stores that a participant started or stopped typing, and tells the other person.
 * @throws `adultErrors`, MatchNotFound
 */
export async function setTyping (
  { db, minAge, sendEphemeral }: Pick<Deps, 'db' | 'minAge' | 'sendEphemeral'>,
  accountId: string,
  matchId: string,
  isTyping: boolean
) {
  const otherId = await db.transaction().execute(async (trx) => {
    const chat = await lockChat({ trx, minAge }, accountId, matchId)
    if (!isTyping) await stopTyping(trx, accountId, matchId)
    else if (!await startTyping(trx, accountId, matchId)) return
    return chat.otherId
  })
  if (!otherId) return
  const frame = { type: 'chat.typing' as const, at: new Date().toISOString(), data: { matchId, isTyping } }
  sendEphemeral({ to: otherId, frame })
}

/** @returns false if it was stored less than a second ago: the other person knows */
async function startTyping (trx: Trx, accountId: string, matchId: string) {
  const started = await trx.insertInto('typing_indicators')
    .values({ match_id: matchId, account_id: accountId, started_at: sql`now()` })
    .onConflict((conflict) =>
      conflict.columns(['match_id', 'account_id']).doUpdateSet({ started_at: sql`now()` })
        .where('typing_indicators.started_at', '<', sql<Date>`now() - interval '1 second'`)
    )
    .returning('match_id')
    .executeTakeFirst()
  return started !== undefined
}

async function stopTyping (trx: Trx, accountId: string, matchId: string) {
  await trx.deleteFrom('typing_indicators').where('match_id', '=', matchId).where('account_id', '=', accountId)
    .execute()
}
