import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { FeedPage } from '@tandem/contracts/realtime'
import { bearer } from '@tandem/http-kit/testing'
import type { Db } from '../tables.ts'
import { notify, type TestApp } from './app.ts'

type Fixture = ReturnType<TestApp['reset']>
type Page = Exclude<FeedPage, { code: string }>

/** Reads logs as the gateway does. */
export function feedOf (app: Fixture) {
  const readAll = async (items: object[]) => {
    const response = await app.app.inject({ method: 'POST', url: '/internal/realtime', payload: { items } })
    return response.json<{ items: FeedPage[] }>().items
  }
  return {
    readAll,
    read: async (accountId: string, after?: string, more: object = {}) => {
      const token = bearer(accountId).authorization.slice('Bearer '.length)
      return (await readAll([{ token, ...after !== undefined && { after }, ...more }]))[0] as Page
    }
  }
}

/** Notifies an account that it reached a level. */
export const tell = async (app: Fixture, to: string, number: number) =>
  await notify(
    app.deps,
    { kind: 'levelReached', dedupeKey: `level:${number}`, to: [to], params: { level: number } },
    new Date()
  )

/** Fills an inbox with unread notifications of comments on a post. */
export const insertComments = async (
  db: Db,
  { accountId, postId, count }: { accountId: string, postId: string, count: number }
) =>
  await sql`
    insert into notifications (id, account_id, dedupe_key, kind, type, actor_id, owner_id, subjects, data, params, listed)
    select uuidv7(), ${accountId}, 'comment:' || uuidv7(), 'postCommented', 'SOCIAL_FEED', uuidv7(), ${accountId},
      array[${`post:${postId}`}], '{}', '{}', true
    from generate_series(1, ${count}::int)`.execute(db)

/** A message, as its event describes it. */
export function someMessage (senderId: string, recipientId: string) {
  const [matchId, messageId] = [randomUUID(), randomUUID()]
  return {
    event: { matchId, messageId, senderId, senderName: 'Ben', recipientId, hasImage: false },
    matchId,
    messageId
  }
}

/** What fitmatch says of a match and a message. */
export const details = (matchId: string, messageId: string | null, senderId: string) => ({
  match: {
    matchId,
    matchType: 'LIKE' as const,
    matchedAt: '2026-01-31T08:00:00.000Z',
    profile: { id: randomUUID(), displayName: 'Ben', age: 31, photos: [] }
  },
  message: messageId === null ? null : {
    id: messageId,
    matchId,
    senderId,
    isMine: false,
    content: 'Hi!',
    imageUrl: null,
    image: null,
    createdAt: '2026-01-31T09:00:00.000Z',
    readAt: null
  },
  clientMessageId: null,
  chatUnreadCount: 1
})
