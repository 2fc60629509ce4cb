import { sql } from 'kysely'
import { publish, publishSql } from '@tandem/bus-kit'
import { MessageSent, MessagesRead } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import type { StoredImage } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { hasRolledBack, MatchNotFound } from '../errors.ts'
import { RateLimited } from '@tandem/http-kit'
import { matchesOf } from '../matches/queries.ts'
import { readParticipant } from '../people/queries.ts'
import type { Db, Trx } from '../tables.ts'
import { storeImage, type ImageUpload } from './images.ts'
import { retryAfterSeconds, useMessageQuota } from './message-quota.ts'
import { findByClientId, messageColumns, readChat } from './queries.ts'

const MAX_MESSAGE_IDS_PER_EVENT = 500

interface NewMessage {
  matchId: string
  content: string | null
  image?: ImageUpload
  clientMessageId?: string
}

/**
 * Sends a message. A retry with the same client message id or idempotency key returns the first message.
 * @throws MatchNotFound, RateLimited
 */
export async function sendMessage (
  { db, media }: Deps,
  senderId: string,
  { image, ...message }: NewMessage,
  idempotencyKey?: IdempotencyKey
) {
  await readParticipant(db, senderId)
  if (image) {
    // Checked before the image is re-encoded. The transaction checks all of it again.
    await readChat(db, senderId, message.matchId)
    const repeated = await findByClientId(db, senderId, message)
    if (repeated) return repeated
    const waitSeconds = await retryAfterSeconds(db, senderId)
    if (waitSeconds !== undefined && !idempotencyKey) throw new RateLimited(waitSeconds)
  }

  const stored = image ? await storeImage(media, senderId, image) : null
  const imageUrl = stored?.key ?? null
  const discardImage = async () => {
    if (imageUrl !== null) await media.remove(imageUrl).catch(() => {})
  }
  try {
    const sent = await withIdempotencyKey(
      db,
      idempotencyKey,
      (trx) => insertMessage(trx, senderId, { ...message, image: stored })
    )
    if (sent.imageUrl !== imageUrl) await discardImage()
    return sent
  } catch (error) {
    if (hasRolledBack(error)) await discardImage()
    throw error
  }
}

interface StoredMessage extends Omit<NewMessage, 'image'> {
  image: StoredImage | null
}

/**
 * Messages are written under the match's lock with strictly increasing times, so clients that poll for newer messages
 * never miss or repeat one.
 */
async function insertMessage (
  trx: Trx,
  senderId: string,
  { matchId, content, image, clientMessageId }: StoredMessage
) {
  const match = await matchesOf(trx, senderId).where('matches.id', '=', matchId)
    .select((eb) => [
      'profiles.account_id as recipientId',
      eb.selectFrom('profiles as own').where('own.account_id', '=', senderId).select('own.display_name')
        .as('senderName')
    ])
    .forUpdate('matches')
    .executeTakeFirst()
  if (!match) throw new MatchNotFound()
  const repeated = await findByClientId(trx, senderId, { matchId, clientMessageId })
  if (repeated) return repeated
  await useMessageQuota(trx, senderId)

  const message = await trx
    .with('chat', (db) =>
      db.updateTable('matches').where('id', '=', matchId)
        .set({
          last_message_at: sql<
            Date
          >`greatest(date_trunc('milliseconds', clock_timestamp()), last_message_at + interval '1 millisecond')`
        })
        .returning('last_message_at as writtenAt'))
    .with(
      'no_longer_typing',
      (db) => db.deleteFrom('typing_indicators').where('match_id', '=', matchId).where('account_id', '=', senderId)
    )
    .insertInto('messages')
    .values((eb) => ({
      match_id: matchId,
      sender_id: senderId,
      content,
      image_url: image?.key ?? null,
      image_width: image?.width ?? null,
      image_height: image?.height ?? null,
      image_blurhash: image?.blurhash ?? null,
      client_id: clientMessageId ?? null,
      created_at: eb.selectFrom('chat').select('writtenAt').$castTo<Date>()
    }))
    .returning(messageColumns)
    .executeTakeFirstOrThrow()
  await publish(trx, MessageSent, matchId, {
    matchId,
    messageId: message.id,
    senderId,
    ...match.senderName !== null && { senderName: match.senderName },
    recipientId: match.recipientId,
    hasImage: image !== null
  })
  return message
}

/** Marks the other person's messages as read: all of them, or those up to `until`. */
export async function markRead (db: Db, readerId: string, matchId: string, until?: Date) {
  const unread = db.selectFrom('messages').select('id')
    .where('match_id', '=', matchId)
    .where('sender_id', '<>', readerId)
    .where('read_at', 'is', null)
    .$if(until !== undefined, (query) => query.where('created_at', '<=', until as Date))
    .where((eb) => eb.exists(matchesOf(db, readerId).where('matches.id', '=', matchId).select('matches.id')))
  // Nothing is unread, so there is nothing to publish and no reason to wake the relay.
  if (!await unread.limit(1).executeTakeFirst()) return []
  const batchSize = sql.lit(MAX_MESSAGE_IDS_PER_EVENT)
  const [messageIds, senderId] = [sql<string[]>`batches.ids`, sql<string>`batches.sender_id`]
  const { rows } = await publishSql(db, (insertEvent) =>
    sql<{ id: string, readAt: Date }>`
    with marked as (
      update messages set read_at = now() where id in (${unread}) and read_at is null
      returning id, sender_id, read_at
    ), batches as (
      select jsonb_agg(id) as ids, sender_id
      from (select id, sender_id, (row_number() over () - 1) / ${batchSize} as batch from marked) as numbered
      group by batch, sender_id
    ), published as (
      ${insertEvent(MessagesRead, matchId, { matchId, readerId, senderId, messageIds }, sql`batches`)}
    )
    select id, read_at as "readAt" from marked`)
  return rows
}

/** Stores that a participant started or stopped typing, and tells the other person. @throws MatchNotFound */
export async function setTyping (
  { db, sendEphemeral }: Pick<Deps, 'db' | 'sendEphemeral'>,
  accountId: string,
  matchId: string,
  isTyping: boolean
) {
  await readParticipant(db, accountId)
  const { otherId } = await readChat(db, accountId, matchId)
  const hasChanged = isTyping ? await startTyping(db, accountId, matchId) : await stopTyping(db, accountId, matchId)
  if (!hasChanged) return
  const frame = { type: 'chat.typing' as const, at: new Date().toISOString(), data: { matchId, isTyping } }
  sendEphemeral({ to: otherId, frame })
}

/** Returns false if it was stored less than a second ago, or if the match has ended. */
async function startTyping (db: Db, accountId: string, matchId: string) {
  const started = await db.insertInto('typing_indicators')
    .columns(['match_id', 'account_id', 'started_at'])
    .expression(
      db.selectFrom('matches').where('id', '=', matchId).where('ended_at', 'is', null)
        .select(['id', sql<string>`${accountId}::uuid`.as('account_id'), sql<Date>`now()`.as('started_at')])
    )
    .onConflict((conflict) =>
      conflict.columns(['match_id', 'account_id']).doUpdateSet({ started_at: sql`now()` })
        .where('typing_indicators.started_at', '<', sql<Date>`now() - interval '1 second'`)
    )
    .returning('match_id')
    .executeTakeFirst()
  return started !== undefined
}

/** Returns true: a stop is always sent, because it may follow one that was lost. */
async function stopTyping (db: Db, accountId: string, matchId: string) {
  await db.deleteFrom('typing_indicators').where('match_id', '=', matchId).where('account_id', '=', accountId)
    .execute()
  return true
}
