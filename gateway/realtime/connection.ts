import { randomUUID } from 'node:crypto'
import type { Language, VerifiedToken } from '@tandem/http-kit'
import { closeCodes, type FeedPage, type Frame, type ServerFrameType } from '@tandem/contracts/realtime'
import { closedTotal, droppedTotal, framesTotal, observeDelay } from './metrics.ts'
import { createPresenceWatch } from './presence.ts'
import type { ServiceClients } from './service-clients.ts'
import { createSupervision, type Tick } from './supervision.ts'
import type { Times } from './times.ts'
import type { Transport } from './transports.ts'

export type CloseCode = keyof typeof closeCodes
type Page = Exclude<FeedPage, { code: string }>

export interface ConnectionOptions extends ServiceClients {
  verified: VerifiedToken
  address: string
  language: Language | undefined
  times: Times
  onClosed: (connection: Connection) => void
}

export type Connection = ReturnType<typeof createConnection>

/**
 * A connection of one device. It pulls the frames after its position from the notification service, one page at a time,
 * so nothing queues up for a slow client, and a lost signal loses nothing.
 */
export function createConnection (options: ConnectionOptions) {
  const { verified, address, language, times, readFeed, readPresence, onClosed } = options
  const id = randomUUID()
  const openedAt = Date.now()
  let transport: Transport | undefined
  let position: string | undefined
  let head = 0
  let isClosed = false
  let isReading = false
  let isWoken = false
  // Undefined: there is nothing to report to the notification service.
  let focus: string | null | undefined
  let focusedAt = 0
  // Spread, so that connections that were opened together do not read together for ever.
  let readAt = openedAt - Math.random() * times.poll

  const supervision = createSupervision(verified, times, { send, close, terminate })
  const presence = createPresenceWatch({
    times,
    async read (matchIds) {
      const answer = await readPresence({ token: supervision.token().account.token, matchIds })
      return 'code' in answer ? [] : answer.presence
    },
    send: (data) => sendEphemeral({ type: 'presence.changed', at: new Date().toISOString(), data })
  })

  const isStalled = () => transport !== undefined && supervision.isStalled(transport)

  function deliver (frame: Frame) {
    if (isClosed) return
    framesTotal.inc({ type: frame.type })
    transport?.send(frame)
    if (frame.id !== undefined) observeDelay(frame.at, openedAt)
  }

  function send (type: ServerFrameType, data: unknown = {}) {
    deliver({ type, at: new Date().toISOString(), data })
  }

  /** Sends a frame that is not kept. It is dropped if the client is slow. */
  function sendEphemeral (frame: Frame) {
    if (isStalled()) droppedTotal.inc()
    else deliver(frame)
  }

  function hello ({ resumed, unreadCount }: Page, at: string) {
    send('hello', {
      connectionId: id,
      position: at,
      resumed,
      unreadCount,
      heartbeatSeconds: Math.ceil(times.heartbeat / 1_000),
      expiresAt: new Date(supervision.token().expiresAt * 1_000).toISOString()
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
    const reported = focus !== undefined && readAt - focusedAt > times.focusRenewal ? { focus } : {}
    const { token } = supervision.token().account
    const page = await readFeed({ token, language, after: position, ...reported })
    if ('focus' in reported && focus === reported.focus) {
      focusedAt = readAt
      // Reported once: another device of the account may have a chat on its screen.
      if (focus === null) focus = undefined
    }
    return page
  }

  async function read () {
    isReading = true
    try {
      let hasMore = true
      while (hasMore && !isClosed && !isStalled()) {
        isWoken = false
        const page = await fetchPage()
        // The supervision ends a connection whose token is no longer accepted.
        if ('code' in page) break
        if (!page.resumed) hello(page, page.position)
        hasMore = take(page) || isWoken
      }
    } catch {
      // The notification service is unavailable; what is missing is read at the next attempt.
      readAt = Date.now() - times.poll + times.retry
    } finally {
      isReading = false
    }
  }

  function wake () {
    isWoken = true
    if (!isReading && transport && !isClosed && !isStalled()) void read()
  }

  function end (reason: string) {
    if (isClosed) return false
    isClosed = true
    closedTotal.inc({ reason })
    onClosed(connection)
    clearFocus()
    return true
  }

  /** The chat is no longer on the screen. If that cannot be reported, it is forgotten after 90 seconds. */
  function clearFocus () {
    if (typeof focus !== 'string') return
    focus = null
    readFeed({ token: supervision.token().account.token, language, after: position, focus }).catch(() => {})
  }

  function close (code: CloseCode) {
    if (end(String(code))) transport?.close(code, closeCodes[code])
  }

  function terminate (reason: string) {
    if (end(reason)) transport?.terminate()
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
    sendEphemeral,
    send,
    hearFrom: supervision.hearFrom,
    renew: supervision.renew,
    focusOn (matchId: string | null) {
      focus = matchId
      focusedAt = 0
      wake()
    },
    watch: presence.watch,
    tick (tick: Tick) {
      if (!transport || isClosed) return
      supervision.check(tick, transport)
      if (isStalled()) return
      presence.tick(tick.now)
      if (isWoken || tick.now - readAt > (tick.hasSignals ? times.poll : times.pollWithoutSignals)) wake()
    },
    move: supervision.move,
    close,
    terminate
  }
  return connection
}
