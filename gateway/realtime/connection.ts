import { randomUUID } from 'node:crypto'
import { ACCESS_TOKEN, type Language, type VerifiedToken } from '@tandem/http-kit'
import {
  closeCodes,
  type FeedPage,
  type FeedRequest,
  type Frame,
  type ServerFrameType
} from '@tandem/contracts/realtime'
import { closedTotal, droppedTotal, framesTotal } from './metrics.ts'
import type { Transport } from './transports.ts'

export const HEARTBEAT_SECONDS = 25
const PONG_TIMEOUT_MS = 10_000
const MAX_UNSENT_BYTES = 64 * 1024
const MAX_STALLED_MS = 10_000
const EXPIRY_WARNING_MS = 60_000
const RETRY_MS = 2_000
const POLL_MS = 60_000
const POLL_WITHOUT_SIGNALS_MS = 5_000
const FOCUS_RENEWAL_MS = 45_000
const MAX_LIFE_MS = 6 * 3_600_000

export type CloseCode = keyof typeof closeCodes
type Page = Exclude<FeedPage, { code: string }>

export interface ConnectionOptions {
  verified: VerifiedToken
  address: string
  language: Language | undefined
  readFeed: (request: FeedRequest) => Promise<FeedPage>
  onClosed: (connection: Connection) => void
}

/** What the ticker tells each connection once a second. */
export interface Tick {
  now: number
  hasSignals: boolean
  hasKey: (kid: string) => boolean
}

export type Connection = ReturnType<typeof createConnection>

/**
 * A connection of one device. It pulls the frames after its position from the notification service, one page at a time,
 * so nothing queues up for a slow client, and a lost signal loses nothing.
 */
export function createConnection ({ verified, address, language, readFeed, onClosed }: ConnectionOptions) {
  const id = randomUUID()
  const openedAt = Date.now()
  let token = verified
  let transport: Transport | undefined
  let position: string | undefined
  let head = 0
  let isClosed = false
  let isReading = false
  let isWoken = false
  let isExpiring = false
  let focus: string | null | undefined
  let focusedAt = 0
  let heardAt = openedAt
  let pingedAt: number | undefined
  let stalledSince: number | undefined
  // Spread, so that connections that were opened together do not read together for ever.
  let readAt = openedAt - Math.random() * POLL_MS
  // Reconnections are spread over two hours as well.
  const movesAt = openedAt + MAX_LIFE_MS * (1 + Math.random() / 3)
  let isMoving = false

  function send (type: ServerFrameType, data: unknown = {}) {
    deliver({ type, at: new Date().toISOString(), data })
  }

  function deliver (frame: Frame) {
    if (isClosed) return
    framesTotal.inc({ type: frame.type })
    transport?.send(frame)
  }

  function hello ({ resumed, unreadCount }: Page, at: string) {
    send('hello', {
      connectionId: id,
      position: at,
      resumed,
      unreadCount,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expiresAt: new Date(token.expiresAt * 1_000).toISOString()
    })
  }

  /** Takes a page; returns whether another one follows. */
  function take (page: Page) {
    for (const frame of page.frames) deliver(frame)
    position = page.position
    head = Number(page.position.split('-')[1] ?? 0)
    return page.more
  }

  async function fetchPage () {
    readAt = Date.now()
    const renewsFocus = focus !== undefined && readAt - focusedAt > FOCUS_RENEWAL_MS
    if (renewsFocus) focusedAt = readAt
    return await readFeed({ token: token.account.token, language, after: position, ...renewsFocus && { focus } })
  }

  async function read () {
    isReading = true
    try {
      let hasMore = true
      while (hasMore && !isClosed && !isStalled()) {
        isWoken = false
        const page = await fetchPage()
        // The ticker ends a connection whose token is no longer accepted.
        if ('code' in page) break
        if (!page.resumed) hello(page, page.position)
        hasMore = take(page) || isWoken
      }
    } catch {
      // The notification service is unavailable; what is missing is read at the next attempt.
      readAt = Date.now() - POLL_MS + RETRY_MS
    } finally {
      isReading = false
    }
  }

  function wake () {
    isWoken = true
    if (!isReading && transport && !isClosed && !isStalled()) void read()
  }

  const isStalled = () => (transport?.unsentBytes() ?? 0) > MAX_UNSENT_BYTES

  function end (reason: string) {
    if (isClosed) return false
    isClosed = true
    closedTotal.inc({ reason })
    onClosed(connection)
    return true
  }

  function close (code: CloseCode) {
    if (end(String(code))) transport?.close(code, closeCodes[code])
  }

  function terminate (reason: string) {
    if (end(reason)) transport?.terminate()
  }

  /** Ends a client that reads nothing: it resumes with its next connection. */
  function checkUnsent (now: number) {
    if (!isStalled()) {
      stalledSince = undefined
      if (isWoken) wake()
    } else if (now - (stalledSince ??= now) > MAX_STALLED_MS) terminate('stalled')
  }

  function checkHeartbeat (now: number) {
    if (pingedAt !== undefined && transport?.kind === 'websocket') {
      if (now - pingedAt > PONG_TIMEOUT_MS) close(4408)
    } else if (now - (pingedAt ?? heardAt) > HEARTBEAT_SECONDS * 1_000) {
      send('ping')
      pingedAt = now
    }
  }

  function checkToken (now: number, hasKey: Tick['hasKey']) {
    const expiresAtMs = token.expiresAt * 1_000
    if (now > expiresAtMs + ACCESS_TOKEN.clockSkewSeconds * 1_000 || !hasKey(token.kid)) return close(4401)
    if (isExpiring || now < expiresAtMs - EXPIRY_WARNING_MS) return
    isExpiring = true
    send('token.expiring', { expiresAt: new Date(expiresAtMs).toISOString() })
  }

  function move (afterMs: number) {
    isMoving = true
    send('reconnect', { afterMs })
  }

  const connection = {
    id,
    address,
    accountId: verified.account.id,
    sessionId: verified.account.sessionId,
    /** Reads the first page. Before the connection is accepted, so that the client can be told to come back later. */
    async prepare (after: string | undefined): Promise<Page | undefined> {
      position = after
      isReading = true
      const page = await fetchPage().finally(() => {
        isReading = false
      })
      return 'code' in page ? undefined : page
    },
    /** Starts to send, with the first page. */
    open (opened: Transport, page: Page) {
      transport = opened
      if (isClosed) return opened.terminate()
      hello(page, page.resumed ? position! : page.position)
      const hasMore = take(page)
      // A signal may have arrived since the page was read.
      if (hasMore || isWoken) wake()
    },
    /** There are frames up to the number `seq`. */
    wakeUp (seq: number) {
      if (seq > head || isReading) wake()
    },
    /** A frame that is not kept. It is dropped if the client is slow. */
    sendEphemeral (frame: Frame) {
      if (isStalled()) droppedTotal.inc()
      else deliver(frame)
    },
    send,
    hearFrom () {
      heardAt = Date.now()
      pingedAt = undefined
    },
    focusOn (matchId: string | null) {
      focus = matchId
      focusedAt = 0
      wake()
    },
    /** Takes a new token. It must be of the same account and session. */
    renew (renewed: VerifiedToken) {
      const { id, sessionId } = renewed.account
      if (id !== connection.accountId || sessionId !== connection.sessionId) return close(4401)
      token = renewed
      isExpiring = false
    },
    tick ({ now, hasSignals, hasKey }: Tick) {
      if (!transport || isClosed) return
      checkToken(now, hasKey)
      checkHeartbeat(now)
      checkUnsent(now)
      if (now - readAt > (hasSignals ? POLL_MS : POLL_WITHOUT_SIGNALS_MS)) wake()
      if (now > movesAt && !isMoving) move(0)
    },
    move,
    close,
    terminate
  }
  return connection
}
