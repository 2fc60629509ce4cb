/** What the server sends over a realtime connection. */
export interface ServerFrames {
  /** The first frame of a connection, and again when too much was missed. Unless `resumed` is true, load the lists again. */
  'hello': { connectionId: string, position: string, resumed: boolean, unreadCount: number, heartbeatSeconds: number, expiresAt: string }
  /** A chat message, for all devices of both people. `message` is null if it could not be read in time: GET the chat. */
  'message.created': { matchId: string, message: { id: string, matchId: string, senderId: string, isMine: boolean, content: string | null, imageUrl: string | null, image: { type: "IMAGE" | "VIDEO", url: string, width: number | null, height: number | null, blurhash: string | null, thumbnails: Array<{ url: string, width: number, height: number }> } | null, createdAt: string, readAt: string | null } | null, clientMessageId: string | null, chatUnreadCount: number | null, notification: { id: string, type: string, title: string, body: string, data: Record<string, string>, actor: { id: string, name: string, image: string | null } | null, readAt: string | null, createdAt: string } | null, unreadCount: number }
  /** Messages of a chat were read. The counts are set if you read them. */
  'messages.read': { matchId: string, messageIds: Array<string>, isMine: boolean, readAt: string, chatUnreadCount: number | null, unreadCount: number | null }
  /** A new match, as in `newMatches`. `match` is null if it could not be read in time: GET the matches. */
  'match.created': { matchId: string, match: { matchId: string, matchType: "LIKE" | "WORKOUT_BUDDY", matchedAt: string, profile: { id: string, displayName: string, age: number | null, photos: Array<{ type?: "IMAGE" | "VIDEO", url: string, width?: number | null, height?: number | null, blurhash?: string | null, thumbnails?: Array<{ url: string, width: number, height: number }>, isMain: boolean }> } } | null, notification: { id: string, type: string, title: string, body: string, data: Record<string, string>, actor: { id: string, name: string, image: string | null } | null, readAt: string | null, createdAt: string } | null, unreadCount: number }
  /** A match has ended: remove the chat. */
  'match.ended': { matchId: string }
  /** A notification that no other frame carries. One with a known id replaces it. */
  'notification.created': { notification: { id: string, type: string, title: string, body: string, data: Record<string, string>, actor: { id: string, name: string, image: string | null } | null, readAt: string | null, createdAt: string }, unreadCount: number }
  /** Notifications were read or removed, here or on another device. Null means all. */
  'notifications.changed': { readIds: Array<string> | null, removedIds: Array<string> | null, unreadCount: number }
  /** Parts of the account changed: fetch them again. */
  'account.changed': { parts: Array<"PROFILE" | "SUBSCRIPTION" | "FITMATCH"> }
  /** The other person is typing, or has stopped. It expires after 6 seconds. */
  'chat.typing': { matchId: string, isTyping: boolean }
  /** Whether the other person of a watched match is online: once after `watch`, then at each change. It is at most as exact as their profile: 5 minutes. */
  'presence.changed': { matchId: string, isOnline: boolean, lastActiveAt: string | null }
  /** Answer with pong. Over SSE no answer is needed. */
  'ping': Record<string, never>
  /** The answer to your ping. */
  'pong': Record<string, never>
  /** The access token expires in a minute: send `auth` with a new one. */
  'token.expiring': { expiresAt: string }
  /** Open a new connection after this time, then close this one. */
  'reconnect': { afterMs: number }
  /** A frame of yours was refused. */
  'error': { code: string, error: string }
}

/** What a client sends. */
export interface ClientFrames {
  /** Asks for a pong at once, such as after the device woke up. */
  'ping': Record<string, never>
  /** The answer to a ping. */
  'pong': Record<string, never>
  /** A new access token of the same account and session. */
  'auth': { accessToken: string }
  /** The chat on the screen, or null. Pushes of its messages wait 5 seconds for them to be read. */
  'focus': { matchId: string | null }
  /** The matches whose presence is sent, instead of those of the last `watch`. */
  'watch': { matchIds: Array<string> }
}
