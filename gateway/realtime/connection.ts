import { randomUUID } from 'node:crypto'
import type { VerifiedToken } from '@tandem/http-kit'
import { closeCodes, type FeedPage, type Frame, type ServerFrameType } from '@tandem/contracts/realtime'
import { closedTotal, droppedTotal, framesTotal, observeDelay } from './metrics.ts'
import type { ServiceClients } from './service-clients.ts'
import { sinceStart, type Times } from './times.ts'
import { closeTransport, sendFrame, terminateTransport, unsentBytes, type Transport } from './transports.ts'

export type CloseCode = keyof typeof closeCodes
export type Page = Exclude<FeedPage, { code: string }>

const MAX_UNSENT_BYTES = 64 * 1024

/** What all connections of a process share. */
export interface Shared extends ServiceClients {
  times: Times
  verifyAccessToken: (token: string) => Promise<VerifiedToken>
  onClosed: (connection: Connection) => void
}

/** The matches whose presence a client watches. */
export interface PresenceWatch {
  watched: string[]
  /** What was last sent of each match, as text. */
  sent: Map<string, string>
}

/**
 * A connection of one device. It pulls the frames after its position from the notification service, one page at a time,
 * so nothing queues up for a slow client, and a lost signal loses nothing.
 *
 * Ten thousand of them are open: it is an object without functions of its own, which would take as much memory as the
 * socket. Its times are of `sinceStart`.
 */
export interface Connection {
  readonly shared: Shared
  readonly id: string
  /** The address of the client, an IPv4 address or the /64 of an IPv6 address. */
  readonly address: string
  readonly language: string | undefined
  readonly openedAt: number
  /** The connection that the account opened before this one, if it is open. */
  older: Connection | undefined
  /** Undefined until the connection is accepted. */
  transport: Transport | undefined
  /** Later ones are of the same account and session. */
  token: VerifiedToken
  position: string | undefined
  head: number
  isClosed: boolean
  /** Why it was closed before it was accepted. */
  refusedWith: CloseCode | undefined
  isReading: boolean
  isWoken: boolean
  readAt: number
  /** The chat on the screen. Undefined: there is nothing to report to the notification service. */
  focus: string | null | undefined
  /** When it was last reported. */
  focusReportedAt: number | undefined
  /** Undefined until it watches any. */
  presence: PresenceWatch | undefined
  isReadingPresence: boolean
  presenceReadAt: number
  /** When the client was last heard of. */
  heardAt: number
  /** When the ping was sent that has no pong yet. */
  pingedAt: number | undefined
  /** Since when the client has left so much unread that nothing more may be sent. */
  stalledSince: number | undefined
  isExpiring: boolean
  isMoving: boolean
  movesAt: number
  /** When the supervision looks at it again. */
  dueAt: number
}

/** A random time up to `ms` before `now`. */
const randomlyBefore = (now: number, ms: number) => now - Math.trunc(Math.random() * ms)

interface ConnectionOptions {
  verified: VerifiedToken
  address: string
  language: string | undefined
}

export function createConnection (shared: Shared, { verified, address, language }: ConnectionOptions): Connection {
  const now = sinceStart()
  const { times } = shared
  return {
    shared,
    id: randomUUID(),
    address,
    language,
    openedAt: now,
    older: undefined,
    transport: undefined,
    token: verified,
    position: undefined,
    head: 0,
    isClosed: false,
    refusedWith: undefined,
    isReading: false,
    isWoken: false,
    // These times are spread, so that connections that were opened together do not all work together from then on.
    readAt: randomlyBefore(now, times.poll),
    focus: undefined,
    focusReportedAt: undefined,
    presence: undefined,
    isReadingPresence: false,
    presenceReadAt: randomlyBefore(now, times.presence),
    heardAt: randomlyBefore(now, times.heartbeat),
    pingedAt: undefined,
    stalledSince: undefined,
    isExpiring: false,
    isMoving: false,
    movesAt: now + Math.trunc(times.maxLife * (1 + Math.random() / 3)),
    dueAt: 0
  }
}

/** Whether the client leaves so much unread that nothing more may be sent. Only what was sent can be unread. */
export function isStalled (connection: Connection) {
  const { transport, stalledSince } = connection
  if (stalledSince === undefined || !transport) return false
  if (unsentBytes(transport) > MAX_UNSENT_BYTES) return true
  connection.stalledSince = undefined
  return false
}

function deliver (connection: Connection, frame: Frame) {
  if (connection.isClosed || !connection.transport) return
  framesTotal.inc({ type: frame.type })
  sendFrame(connection.transport, frame)
  if (unsentBytes(connection.transport) > MAX_UNSENT_BYTES) connection.stalledSince ??= sinceStart()
  if (frame.id !== undefined) observeDelay(frame.at, sinceStart() - connection.openedAt)
}

export function send (connection: Connection, type: ServerFrameType, data: unknown = {}) {
  deliver(connection, { type, at: new Date().toISOString(), data })
}

/** Sends a frame that is not kept. It is dropped if the client is slow. */
export function sendEphemeral (connection: Connection, frame: Frame) {
  if (isStalled(connection)) droppedTotal.inc()
  else deliver(connection, frame)
}

function hello (connection: Connection, { resumed, unreadCount }: Page, position: string) {
  const { id, shared: { times }, token } = connection
  send(connection, 'hello', {
    connectionId: id,
    position,
    resumed,
    unreadCount,
    heartbeatSeconds: Math.ceil(times.heartbeat / 1_000),
    expiresAt: new Date(token.expiresAt * 1_000).toISOString()
  })
}

/** Takes a page; returns whether another one follows. */
function take (connection: Connection, page: Page) {
  for (const frame of page.frames) deliver(connection, frame)
  connection.position = page.position
  connection.head = Number(page.position.split('-')[1] ?? 0)
  return page.more
}

async function fetchPage (connection: Connection) {
  const { shared: { times, readFeed }, token: { account: { token } }, language, position: after, focus } = connection
  connection.readAt = sinceStart()
  const { readAt, focusReportedAt = -Infinity } = connection
  const isReported = focus !== undefined && readAt - focusReportedAt > times.focusRenewal
  const page = await readFeed({ token, language, after, ...isReported && { focus } })
  if (isReported && connection.focus === focus) {
    connection.focusReportedAt = readAt
    // Reported once: another device of the account may have a chat on its screen.
    if (focus === null) connection.focus = undefined
  }
  return page
}

async function read (connection: Connection) {
  const { times } = connection.shared
  connection.isReading = true
  try {
    let hasMore = true
    while (hasMore && !connection.isClosed && !isStalled(connection)) {
      connection.isWoken = false
      const page = await fetchPage(connection)
      // The supervision ends a connection whose token is no longer accepted.
      if ('code' in page) return
      if (!page.resumed) hello(connection, page, page.position)
      hasMore = take(connection, page) || connection.isWoken
    }
    // The supervision goes on once a stalled client has read.
    connection.isWoken ||= hasMore
  } catch {
    // The notification service is unavailable; what is missing is read at the next attempt.
    connection.readAt = sinceStart() - times.poll + times.retry
    connection.dueAt = connection.readAt + times.poll
  } finally {
    connection.isReading = false
  }
}

/** Reads what is new. */
export function wake (connection: Connection) {
  connection.isWoken = true
  const { isReading, isClosed, transport } = connection
  if (!isReading && transport && !isClosed && !isStalled(connection)) void read(connection)
}

/** There are frames up to the number `seq`. */
export function wakeUp (connection: Connection, seq: number) {
  if (seq > connection.head || connection.isReading) wake(connection)
}

/** Reads the first page. Before the connection is accepted, so that the client can be told to come back later. */
export async function prepare (connection: Connection, after: string | undefined): Promise<Page | undefined> {
  connection.position = after
  connection.isReading = true
  const page = await fetchPage(connection).finally(() => {
    connection.isReading = false
  })
  return 'code' in page ? undefined : page
}

/** Starts to send, with the first page. */
export function open (connection: Connection, transport: Transport, page: Page) {
  connection.transport = transport
  const { isClosed, refusedWith: code } = connection
  if (isClosed) {
    return code === undefined
      ? terminateTransport(transport)
      : closeTransport(transport, code, closeCodes[code])
  }
  hello(connection, page, page.resumed ? connection.position! : page.position)
  const hasMore = take(connection, page)
  // A signal may have arrived since the page was read.
  if (hasMore || connection.isWoken) wake(connection)
}

export function focusOn (connection: Connection, matchId: string | null) {
  connection.focus = matchId
  connection.focusReportedAt = undefined
  wake(connection)
}

/** The client has sent something. */
export function hearFrom (connection: Connection) {
  connection.heardAt = sinceStart()
  connection.pingedAt = undefined
}

/** Asks the client to open another connection after this time, and then to close this one. */
export function move (connection: Connection, afterMs: number) {
  connection.isMoving = true
  send(connection, 'reconnect', { afterMs })
}

/** Takes a new token. It must be of the same account and session. */
export function renew (connection: Connection, renewed: VerifiedToken) {
  const { id, sessionId } = connection.token.account
  if (renewed.account.id !== id || renewed.account.sessionId !== sessionId) return close(connection, 4401)
  connection.token = renewed
  connection.isExpiring = false
}

function end (connection: Connection, reason: string) {
  if (connection.isClosed) return false
  connection.isClosed = true
  closedTotal.inc({ reason })
  connection.shared.onClosed(connection)
  clearFocus(connection)
  return true
}

/** The chat is no longer on the screen. If that cannot be reported, it is forgotten after 90 seconds. */
function clearFocus (connection: Connection) {
  if (typeof connection.focus !== 'string') return
  connection.focus = null
  const { shared: { readFeed }, token: { account: { token } }, language, position: after, focus } = connection
  readFeed({ token, language, after, focus }).catch(() => {})
}

export function close (connection: Connection, code: CloseCode) {
  if (!end(connection, String(code))) return
  if (connection.transport) closeTransport(connection.transport, code, closeCodes[code])
  else connection.refusedWith = code
}

export function terminate (connection: Connection, reason: string) {
  if (end(connection, reason) && connection.transport) terminateTransport(connection.transport)
}
