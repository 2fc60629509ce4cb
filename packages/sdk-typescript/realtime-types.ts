import type { ServerFrames } from './generated/frames.gen.ts'

export type ServerFrameType = keyof ServerFrames

/** What a listener of `type` receives. */
export interface ServerFrame<Type extends ServerFrameType = ServerFrameType> {
  type: Type
  /** Frames with an id are kept for a day, and sent again after a lost connection. */
  id?: string
  at: string
  data: ServerFrames[Type]
}

/** The part of the standard `WebSocket` that the client uses. */
export interface WebSocketLike {
  onopen: (() => void) | null
  onmessage: ((event: { data: unknown }) => void) | null
  onclose: ((event: { code: number }) => void) | null
  onerror: (() => void) | null
  send(text: string): void
  close(code?: number): void
}

export const chatFrames = [
  'message.created',
  'messages.read',
  'match.ended',
  'chat.typing',
  'presence.changed'
] as const

/** What concerns one chat. */
export type ChatFrame = { [Type in typeof chatFrames[number]]: ServerFrame<Type> }[typeof chatFrames[number]]

export interface RealtimeOptions {
  /**
   * Called when the app must load its lists again: after the first connection, and after an absence that was too long to
   * send what was missed.
   */
  onReload?: () => void
  /** Called when the connection is established or lost. */
  onConnected?: (isConnected: boolean) => void
  /** Default: the global WebSocket. */
  WebSocket?: new(url: string, protocols: string[]) => WebSocketLike
  /** Delays in milliseconds, for tests. */
  delays?: Partial<typeof standardDelays>
}

export const standardDelays = {
  base: 1_000,
  max: 30_000,
  /** A connection that lived for this long begins with the shortest delay again. */
  stable: 10_000,
  tooMany: 60_000,
  pong: 3_000,
  /** An access token that expires sooner is renewed before it is used. */
  expiring: 60_000
}

export interface Realtime {
  /** Listens to frames of a type. @returns a function that stops it */
  on<Type extends ServerFrameType>(type: Type, listener: (frame: ServerFrame<Type>) => void): () => void
  /**
   * Opens a chat on the screen: its frames, and whether the other person is online. Its messages are pushed only if they
   * are not read. @returns a function that closes it
   */
  subscribe(topic: 'chat', matchId: string, listener: (frame: ChatFrame) => void): () => void
  /** Names the chat on the screen, or null: its messages are pushed only if they are not read. */
  focus(matchId: string | null): void
  /** Names the matches whose presence is sent, instead of the last ones. */
  watch(matchIds: string[]): void
  /** Call it when the app leaves the foreground: the connection is closed, and goes on from the same frame later. */
  pause(): void
  /** Call it when the app comes back to the foreground: a connection that was lost unnoticed is replaced. */
  wake(): void
  close(): void
}
