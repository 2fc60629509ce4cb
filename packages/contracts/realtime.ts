// The frames of the realtime connection: the gateway's public contract with clients, and what carries it inside.
import Type from 'typebox'
import { ChatMessage, Id, MatchSummary, Nullable, Timestamp } from './schemas.ts'

/** The subprotocol of the WebSocket transport. */
export const REALTIME_PROTOCOL = 'tandem.v1'

/** How many matches a connection can watch. */
export const MAX_WATCHED_MATCHES = 50

export interface FrameDefinition {
  description: string
  /** Whether the frame has an id, is kept for a day and is replayed. */
  isKept: boolean
  data: Type.TSchema
}

const Count = Type.Integer({ minimum: 0 })
const unreadCount = Count
const Notification = Type.Object({
  id: Id,
  type: Type.String(),
  title: Type.String(),
  body: Type.String(),
  data: Type.Record(Type.String(), Type.String()),
  actor: Nullable(Type.Object({ id: Id, name: Type.String(), image: Nullable(Type.String()) })),
  readAt: Nullable(Timestamp),
  createdAt: Timestamp
})

const kept = (description: string, data: Type.TSchema): FrameDefinition => ({ description, isKept: true, data })
const passing = (description: string, data: Type.TSchema = Type.Object({})): FrameDefinition => ({
  description,
  isKept: false,
  data
})

/** The frames that the server sends, by type. */
export const serverFrames = {
  'hello': passing(
    'The first frame of a connection, and again when too much was missed. Unless `resumed` is true, load the lists ' +
      'again.',
    Type.Object({
      connectionId: Id,
      position: Type.String({ description: 'The resume token until a frame with an id arrives' }),
      resumed: Type.Boolean(),
      unreadCount,
      heartbeatSeconds: Type.Integer(),
      expiresAt: Timestamp
    })
  ),
  'message.created': kept(
    'A chat message, for all devices of both people. `message` is null if it could not be read in time: GET the chat.',
    Type.Object({
      matchId: Id,
      message: Nullable(ChatMessage),
      clientMessageId: Nullable(Type.String()),
      chatUnreadCount: Nullable(Count),
      notification: Nullable(Notification),
      unreadCount
    })
  ),
  'messages.read': kept(
    'Messages of a chat were read. The counts are set if you read them.',
    Type.Object({
      matchId: Id,
      messageIds: Type.Array(Id),
      isMine: Type.Boolean(),
      readAt: Timestamp,
      chatUnreadCount: Nullable(Count),
      unreadCount: Nullable(Count)
    })
  ),
  'match.created': kept(
    'A new match, as in `newMatches`. `match` is null if it could not be read in time: GET the matches.',
    Type.Object({
      matchId: Id,
      match: Nullable(MatchSummary),
      notification: Nullable(Notification),
      unreadCount
    })
  ),
  'match.ended': kept('A match has ended: remove the chat.', Type.Object({ matchId: Id })),
  'notification.created': kept(
    'A notification that no other frame carries. One with a known id replaces it.',
    Type.Object({ notification: Notification, unreadCount })
  ),
  'notifications.changed': kept(
    'Notifications were read or removed, here or on another device. Null means all.',
    Type.Object({
      readIds: Nullable(Type.Array(Id)),
      removedIds: Nullable(Type.Array(Id)),
      unreadCount
    })
  ),
  'account.changed': kept(
    'Parts of the account changed: fetch them again.',
    Type.Object({ parts: Type.Array(Type.Enum(['PROFILE', 'SUBSCRIPTION', 'FITMATCH'])) })
  ),
  'chat.typing': passing(
    'The other person is typing, or has stopped. It expires after 6 seconds.',
    Type.Object({ matchId: Id, isTyping: Type.Boolean() })
  ),
  'presence.changed': passing(
    'Whether the other person of a watched match is online: once after `watch`, then at each change. It is at most as ' +
      'exact as their profile: 5 minutes.',
    Type.Object({ matchId: Id, isOnline: Type.Boolean(), lastActiveAt: Nullable(Timestamp) })
  ),
  'import.changed': passing(
    'How far an import of yours is: after each part of the file, and at its end. GET /imports says the same.',
    Type.Object({
      importId: Id,
      status: Type.Enum(['RUNNING', 'DONE', 'FAILED', 'UNDOING', 'UNDONE']),
      progress: Type.Integer({ minimum: 0, maximum: 100, description: 'In percent' })
    })
  ),
  'ping': passing('Answer with pong. Over SSE no answer is needed.'),
  'pong': passing('The answer to your ping.'),
  'token.expiring': passing(
    'The access token expires in a minute: send `auth` with a new one.',
    Type.Object({ expiresAt: Timestamp })
  ),
  'reconnect': passing(
    'Open a new connection after this time, then close this one.',
    Type.Object({ afterMs: Type.Integer({ minimum: 0 }) })
  ),
  'error': passing(
    'A frame of yours was refused.',
    Type.Object({ code: Type.String(), error: Type.String() })
  )
} as const satisfies Record<string, FrameDefinition>

export type ServerFrameType = keyof typeof serverFrames
export type KeptFrameType =
  | 'message.created'
  | 'messages.read'
  | 'match.created'
  | 'match.ended'
  | 'notification.created'
  | 'notifications.changed'
  | 'account.changed'

/** The frames that a client sends over a WebSocket, by type. */
export const clientFrames = {
  ping: { description: 'Asks for a pong at once, such as after the device woke up.', data: Type.Object({}) },
  pong: { description: 'The answer to a ping.', data: Type.Object({}) },
  auth: {
    description: 'A new access token of the same account and session.',
    data: Type.Object({ accessToken: Type.String({ maxLength: 3_000 }) })
  },
  focus: {
    description: 'The chat on the screen, or null. Pushes of its messages wait 5 seconds for them to be read.',
    data: Type.Object({ matchId: Nullable(Id) })
  },
  watch: {
    description: 'The matches whose presence is sent, instead of those of the last `watch`.',
    data: Type.Object({ matchIds: Type.Array(Id, { maxItems: MAX_WATCHED_MATCHES }) })
  }
} as const

export type ClientFrameType = keyof typeof clientFrames

/** How connections are closed: 4000 plus an HTTP status, or a code of RFC 6455. */
export const closeCodes = {
  1003: 'A binary frame',
  1007: 'A frame that is not UTF-8',
  1009: 'A frame above 4 KiB',
  1012: 'The server restarts: connect again',
  4400: 'A frame that is not valid',
  4401: 'The token has expired or the session has ended: refresh, then connect again; if that fails, sign out',
  4408: 'No pong arrived in time',
  4429: 'Too many connections or frames: connect again after a minute'
} as const

/** A frame as clients receive it. */
export interface Frame {
  type: ServerFrameType
  /** The resume token; only frames that are kept have one. */
  id?: string
  at: string
  data: unknown
}

/** What one connection asks the notification service: the frames after its position. */
export interface FeedRequest {
  token: string
  language?: string | undefined
  /** Undefined when a client connects without a position. */
  after?: string | undefined
  /** The chat on the screen; undefined leaves it as it is. */
  focus?: string | null | undefined
}

/** The frames after a position, or why there are none. */
export type FeedPage = { code: string } | {
  frames: Frame[],
  /** The position after these frames. */
  position: string,
  /** Whether nothing is missing between the requested position and this page. */
  resumed: boolean,
  /** Whether another page follows. */
  more: boolean,
  unreadCount: number
}

/** What one connection asks fitmatch: the presence of its matches. The call also records its account as active. */
export interface PresenceRequest {
  token: string
  matchIds: string[]
}

export interface Presence {
  matchId: string
  isOnline: boolean
  lastActiveAt: string | null
}

/** The presence of those matches that the account can see, or why there is none. */
export type PresenceAnswer = { code: string } | { presence: Presence[] }

/** Wakes the connections of accounts: `[accountId, seq]`, the number of the newest frame of each. */
export type WakeUpSignal = [accountId: string, seq: number][]

/** A frame that is not kept, for all connections of an account. */
export interface EphemeralMessage {
  to: string
  frame: Frame
}
