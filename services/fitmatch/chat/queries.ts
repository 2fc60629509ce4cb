import { sql } from 'kysely'
import { paginate, ValidationError, type Page } from '@tandem/http-kit'
import { MatchNotFound } from '../errors.ts'
import { matchesOf } from '../matches/queries.ts'
import type { Db } from '../tables.ts'

// Longer than the few seconds for which a client may throttle its typing updates.
const TYPING_TTL = '6 seconds'

/** One of the caller's chats, and whether the other person is typing. @throws MatchNotFound */
export async function readChat (db: Db, accountId: string, matchId: string) {
  const chat = await matchesOf(db, accountId).where('matches.id', '=', matchId)
    .select((eb) => [
      'matches.id',
      'profiles.account_id as otherId',
      'profiles.id as profileId',
      'display_name as displayName',
      eb.exists(
        eb.selectFrom('typing_indicators').whereRef('match_id', '=', 'matches.id').whereRef(
          'typing_indicators.account_id',
          '=',
          'profiles.account_id'
        )
          .where('started_at', '>', sql<Date>`now() - ${sql.lit(TYPING_TTL)}::interval`)
      ).$castTo<boolean>().as('isTyping')
    ])
    .executeTakeFirst()
  if (!chat) throw new MatchNotFound()
  return chat
}

/** The columns of a message. They name the profile of its sender: a match learns nothing of the account. */
export const messageColumns = [
  'messages.id',
  'match_id as matchId',
  sql<string>`(select profiles.id from profiles where account_id = sender_id)`.as('senderId'),
  'content',
  'image_url as imageUrl',
  'image_width as width',
  'image_height as height',
  'image_blurhash as blurhash',
  'messages.created_at as createdAt',
  'read_at as readAt'
] as const

const messagesOf = (db: Db, accountId: string, matchId: string) =>
  db.selectFrom('messages')
    // Checked again in this statement, because the match may have ended since the first check.
    .innerJoin('matches', 'matches.id', 'match_id')
    .where('match_id', '=', matchId)
    .where('ended_at', 'is', null)
    .where((eb) => eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)]))
    .select([...messageColumns, sql<boolean>`sender_id = ${accountId}`.as('isMine')])

/** When a message of this chat was sent. @throws ValidationError if the message is not in this chat */
async function readSentAt (db: Db, matchId: string, messageId: string) {
  const message = await db.selectFrom('messages').where('match_id', '=', matchId).where('id', '=', messageId).select(
    'created_at'
  ).executeTakeFirst()
  if (!message) {
    throw new ValidationError('messageIsNotPartOfThisChat')
  }
  return message.created_at
}

/** A page of the chat, oldest first; the newest page without a cursor. The next cursor leads to older messages. */
export async function listHistory (db: Db, accountId: string, matchId: string, { limit, cursor }: Page) {
  const before = cursor === undefined ? undefined : await readSentAt(db, matchId, cursor)
  const rows = await messagesOf(db, accountId, matchId)
    .$if(before !== undefined, (query) => query.where('messages.created_at', '<', before as Date))
    .orderBy('messages.created_at', 'desc')
    .limit(limit + 1)
    .execute()
  const { page, nextCursor } = paginate(rows, limit, ({ id }) => id)
  return { messages: page.reverse(), nextCursor }
}

interface SinceOptions {
  limit: number
  after?: Date
  afterId?: string
}

/** Messages sent after a time or after another message, oldest first. */
export async function listSince (db: Db, accountId: string, matchId: string, { limit, after, afterId }: SinceOptions) {
  const sentAt = afterId === undefined ? after : await readSentAt(db, matchId, afterId)
  return await messagesOf(db, accountId, matchId)
    .$if(sentAt !== undefined, (query) => query.where('messages.created_at', '>', sentAt as Date))
    .orderBy('messages.created_at')
    .limit(limit)
    .execute()
}

/** The message that the sender already stored under this client message id. */
export async function findByClientId (
  db: Db,
  senderId: string,
  { matchId, clientMessageId }: { matchId: string, clientMessageId?: string }
) {
  if (clientMessageId === undefined) return
  return await db.selectFrom('messages').select(messageColumns)
    .where('match_id', '=', matchId)
    .where('sender_id', '=', senderId)
    .where('client_id', '=', clientMessageId)
    .executeTakeFirst()
}
