import { sql } from 'kysely'
import { publishSql } from '@tandem/bus-kit'
import { MessageSent, MessagesRead } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import type { StoredImage } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { hasRolledBack, MatchNotFound } from '../errors.ts'
import { RateLimited } from '@tandem/http-kit'
import { joinVisibleMatch, matchesOf } from '../matches/queries.ts'
import { readParticipant } from '../people/queries.ts'
import type { Db } from '../tables.ts'
import { storeImage, type ImageUpload } from './images.ts'
import { insertMessageUse, retryAfterSeconds } from './message-quota.ts'
import { findByClientId, messageColumns, readChat, type SentMessage } from './queries.ts'

const MAX_MESSAGE_IDS_PER_EVENT = 500

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
 * @throws MatchNotFound, RateLimited
 */
export async function sendMessage (
  { db, media }: Deps,
  senderId: string,
  { image, client, ...message }: NewMessage,
  idempotencyKey?: IdempotencyKey
) {
  // The first response to the key is not for someone who was suspended since.
  if (image || idempotencyKey) await readParticipant(db, senderId)
  if (image) {
    // Checked before the image is re-encoded. The statement checks all of it again.
    await readChat(db, senderId, message.matchId)
    const repeated = await findByClientId(db, senderId, message)
    if (repeated) return repeated
    const waitSeconds = await retryAfterSeconds(db, senderId)
    if (waitSeconds !== undefined && !idempotencyKey) throw new RateLimited(waitSeconds)
  }

  const stored = image ? await storeImage(media, senderId, image, client) : null
  const imageUrl = stored?.key ?? null
  const discardImage = async () => {
    if (imageUrl !== null) await media.remove(imageUrl).catch(() => {})
  }
  try {
    const insert = async (db: Db) => await insertMessage(db, senderId, { ...message, image: stored })
    // Without a key no transaction is needed around the statement.
    const inserted = idempotencyKey ? withIdempotencyKey(db, idempotencyKey, insert) : insert(db)
    const sent = await inserted.catch(async (error: unknown) => {
      // It waited for the message that it repeats, and its snapshot is older than that message.
      const repeated = isRepeated(error) ? await findByClientId(db, senderId, message) : undefined
      if (!repeated) throw error
      return repeated
    })
    if (sent.imageUrl !== imageUrl) await discardImage()
    return sent
  } catch (error) {
    if (hasRolledBack(error)) await discardImage()
    throw error
  }
}

const isRepeated = (error: unknown) => (error as { constraint?: unknown }).constraint === 'messages_by_client_id'

interface StoredMessage extends Omit<NewMessage, 'image' | 'client'> {
  image: StoredImage | null
}

/**
 * Messages are written under the match's lock with strictly increasing times, so clients that poll for newer messages
 * never miss or repeat one.
 *
 * An optimisation: the checks, the quota, the message and its event are one statement. Each part reads from the one
 * before it, so the match is locked first, and a message that is refused uses nothing of the quota.
 */
async function insertMessage (
  db: Db,
  senderId: string,
  { matchId, content, image, clientMessageId }: StoredMessage
) {
  const clientId = clientMessageId ?? null
  const event = {
    matchId,
    messageId: sql<string>`message.id`,
    senderId,
    senderName: sql<string>`chat.own_name`,
    recipientId: sql<string>`chat.other_id`,
    hasImage: image !== null
  }
  const { rows: [sent] } = await publishSql(db, (insertEvent) =>
    sql<SentMessage>`
    with chat as (
      ${chatOf(senderId, matchId)} for update of matches
    ), earlier as (
      select ${messageColumns} from messages
      where match_id = (select id from chat) and sender_id = ${senderId} and client_id = ${clientId}
    ), quota as (
      ${insertMessageUse(senderId, sql`chat where not exists (select from earlier)`)}
    ), written as (
      update matches set
        last_message_at = greatest(date_trunc('milliseconds', clock_timestamp()), last_message_at + interval '1 millisecond')
      where id = (select id from chat) and exists (select from quota)
      returning id, last_message_at
    ), message as (
      insert into messages (
        match_id, sender_id, content, image_url, image_width, image_height, image_blurhash, client_id, created_at
      )
      select id, ${senderId}::uuid, ${content}, ${image?.key ?? null}, ${image?.width ?? null}::integer,
        ${image?.height ?? null}::integer, ${image?.blurhash ?? null}, ${clientId}, last_message_at
      from written
      returning ${messageColumns}
    ), no_longer_typing as (
      delete from typing_indicators where match_id = (select id from written) and account_id = ${senderId}
    ), published as (
      ${insertEvent(MessageSent, matchId, event, sql`message, chat`)}
    )
    select * from message union all select * from earlier`)
  if (sent) return sent
  await assertCanWrite(db, senderId, matchId)
  throw new RateLimited(await retryAfterSeconds(db, senderId) ?? 1)
}

/**
 * The match in which an account that is not suspended can write, if the other person is visible: its `id`, `other_id` and
 * the account's `own_name`.
 */
const chatOf = (accountId: string, matchId: string) =>
  sql`
  select matches.id, profiles.account_id as other_id, participant.display_name as own_name
  from (select ${accountId}::uuid as account_id, ${matchId}::uuid as match_id) as requested
  ${joinVisibleMatch}`

/** @throws `participantErrors` or MatchNotFound, whichever made `chatOf` find nothing */
async function assertCanWrite (db: Db, accountId: string, matchId: string) {
  await readParticipant(db, accountId)
  await readChat(db, accountId, matchId)
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

/**
 * Stores that a participant started or stopped typing, and tells the other person. An optimisation: it is one statement.
 * @throws `participantErrors`, MatchNotFound
 */
export async function setTyping (
  { db, sendEphemeral }: Pick<Deps, 'db' | 'sendEphemeral'>,
  accountId: string,
  matchId: string,
  isTyping: boolean
) {
  const { rows: [chat] } = await sql<{ otherId: string, hasChanged: boolean }>`
    with chat as (${chatOf(accountId, matchId)}), changed as (${
    isTyping ? startTyping(accountId) : stopTyping(accountId)
  })
    select other_id as "otherId", ${isTyping ? sql`exists (select from changed)` : sql.lit(true)} as "hasChanged"
    from chat`.execute(db)
  if (!chat) {
    await assertCanWrite(db, accountId, matchId)
    throw new MatchNotFound()
  }
  // A start is sent once in a second. A stop is always sent, because it may follow one that was lost.
  if (!chat.hasChanged) return
  const frame = { type: 'chat.typing' as const, at: new Date().toISOString(), data: { matchId, isTyping } }
  sendEphemeral({ to: chat.otherId, frame })
}

const startTyping = (accountId: string) =>
  sql`
  insert into typing_indicators (match_id, account_id, started_at) select id, ${accountId}::uuid, now() from chat
  on conflict (match_id, account_id) do update set started_at = now()
    where typing_indicators.started_at < now() - interval '1 second'
  returning match_id`

const stopTyping = (accountId: string) =>
  sql`delete from typing_indicators where match_id = (select id from chat) and account_id = ${accountId}`
