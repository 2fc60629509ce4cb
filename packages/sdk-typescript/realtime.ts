import type { ClientFrames } from './generated/frames.gen.ts'
import {
  chatFrames,
  standardDelays,
  type ChatFrame,
  type Realtime,
  type RealtimeOptions,
  type ServerFrame,
  type ServerFrameType,
  type WebSocketLike
} from './realtime-types.ts'
import type { Session } from './session.ts'

interface Dependencies {
  baseUrl: string
  session: Session
  /** Sends any request as the signed-in account: it renews the token, or finds that the session has ended. */
  checkSession: () => Promise<unknown>
}

interface Link {
  socket: WebSocketLike
  token: string
  connectedAt?: number
  silence?: ReturnType<typeof setTimeout>
}

/** Opens a connection, and opens it again whenever it is lost, until `close` is called or the session has ended. */
export function openRealtime ({ baseUrl, session, checkSession }: Dependencies, options: RealtimeOptions): Realtime {
  const { onReload, onConnected, WebSocket = globalThis.WebSocket as never } = options
  const delays = { ...standardDelays, ...options.delays }
  const listeners = new Map<ServerFrameType, Set<(frame: never) => void>>()
  let current: Link | undefined
  /** Being established. The current one, if there is any, stays open until then. */
  let next: Link | undefined
  let isConnecting = false
  let position: string | undefined
  let expiresAt: number | undefined
  let failures = 0
  let isPaused = false
  let isClosed = false
  let retry: ReturnType<typeof setTimeout> | undefined
  let focused: string | null = null
  let watched: string[] = []

  async function connect () {
    clearTimeout(retry)
    if (isConnecting || next || isPaused || isClosed) return
    isConnecting = true
    const token = await currentToken().catch(() => connectLater()).finally(() => {
      isConnecting = false
    })
    // Undefined: signed out, here or on the server, or the token cannot be renewed now.
    if (!isPaused && !isClosed && token !== undefined) open(token)
  }

  async function currentToken () {
    const stored = await session.accessToken()
    const isExpiring = expiresAt !== undefined && expiresAt < Date.now() + delays.expiring
    if (!isExpiring || stored === undefined) return stored
    const renewed = await session.renew(stored)
    // The new one is not the one that expires, however often the connection fails now.
    expiresAt = undefined
    return renewed
  }

  function open (token: string) {
    // As text: in React Native the parts of a URL cannot be set.
    const url = `${absolute(baseUrl).replace(/^http/, 'ws')}/realtime`
    const after = position === undefined ? '' : `?after=${encodeURIComponent(position)}`
    // Pages and React Native cannot set the header of a WebSocket everywhere.
    const link: Link = { socket: new WebSocket(`${url}${after}`, ['tandem.v1', `bearer.${token}`]), token }
    next = link
    link.socket.onerror = () => {}
    link.socket.onmessage = ({ data }) => receive(link, JSON.parse(String(data)) as ServerFrame)
    link.socket.onclose = ({ code }) => void lose(link, code)
    expectMore(link)
  }

  function receive (link: Link, frame: ServerFrame) {
    expectMore(link)
    if (frame.id !== undefined) {
      // After a lost connection, a frame can arrive a second time.
      if (!isNewer(frame.id, position)) return
      position = frame.id
    }
    if (is(frame, 'hello')) greet(link, frame)
    else if (is(frame, 'ping')) say(link, 'pong', {})
    else if (is(frame, 'token.expiring')) void renew(link)
    else if (is(frame, 'reconnect')) retry = setTimeout(() => void connect(), frame.data.afterMs)
    for (const listener of listeners.get(frame.type) ?? []) listener(frame as never)
  }

  function greet (link: Link, { at, data }: ServerFrame<'hello'>) {
    link.connectedAt ??= Date.now()
    if (link === next) {
      if (current) drop(current)
      current = link
      next = undefined
    }
    silenceMs = data.heartbeatSeconds * 2_000
    expectMore(link)
    // By the clock of the device, which can be wrong.
    expiresAt = Date.now() + Date.parse(data.expiresAt) - Date.parse(at)
    if (focused !== null) say(link, 'focus', { matchId: focused })
    if (watched.length > 0) say(link, 'watch', { matchIds: watched })
    onConnected?.(true)
    if (data.resumed) return
    position = data.position
    onReload?.()
  }

  async function renew (link: Link) {
    const token = await session.renew(link.token).catch(() => undefined)
    // If it cannot be renewed now, the server closes the connection when it has expired.
    if (token === undefined || link !== current) return
    link.token = token
    expiresAt = undefined
    say(link, 'auth', { accessToken: token })
  }

  let silenceMs = 60_000
  /** Without any frame for two heartbeats the connection is dead or was never made, whatever the socket says. */
  function expectMore (link: Link) {
    clearTimeout(link.silence)
    link.silence = setTimeout(() => replace(link), silenceMs)
  }

  function replace (link: Link) {
    drop(link)
    void lose(link, 1006)
  }

  async function lose (link: Link, code: number) {
    clearTimeout(link.silence)
    const { connectedAt } = link
    if (link === next) next = undefined
    if (link === current) {
      current = undefined
      onConnected?.(false)
    }
    if (connectedAt !== undefined && Date.now() - connectedAt > delays.stable) failures = 0
    // A refused connection does not say why. The session may have ended, or the token has expired.
    if (connectedAt === undefined) checkSession().catch(() => {})
    if (code === 4401) {
      expiresAt = undefined
      // If the server cannot be reached now, the next attempt is refused and leads here again.
      await session.renew(link.token).catch(() => undefined)
    }
    connectLater(code === 4429 ? delays.tooMany : 0)
  }

  function connectLater (atLeastMs = 0) {
    if (isPaused || isClosed) return
    const backOffMs = Math.random() * Math.min(delays.max, delays.base * 2 ** failures++)
    clearTimeout(retry)
    retry = setTimeout(() => void connect(), atLeastMs + backOffMs)
  }

  function on<Type extends ServerFrameType> (type: Type, listener: (frame: ServerFrame<Type>) => void) {
    const known = listeners.get(type) ?? new Set()
    listeners.set(type, known.add(listener as never))
    return () => void known.delete(listener as never)
  }

  function focus (matchId: string | null) {
    focused = matchId
    if (current) say(current, 'focus', { matchId })
  }

  function watch (matchIds: string[]) {
    watched = matchIds
    if (current) say(current, 'watch', { matchIds })
  }

  function disconnect () {
    clearTimeout(retry)
    for (const link of [current, next]) if (link) drop(link)
    if (current) onConnected?.(false)
    current = undefined
    next = undefined
  }

  void connect()

  return {
    on,
    focus,
    watch,
    subscribe (_topic, matchId, listener) {
      const stops = chatFrames.map((type) =>
        on(type, (frame) => {
          if (frame.data.matchId === matchId) listener(frame as ChatFrame)
        })
      )
      focus(matchId)
      watch([...watched, matchId])
      return () => {
        for (const stop of stops) stop()
        if (focused === matchId) focus(null)
        watch(watched.filter((each) => each !== matchId))
      }
    },
    pause () {
      isPaused = true
      disconnect()
    },
    wake () {
      isPaused = false
      failures = 0
      const link = current
      if (!link) return void connect()
      say(link, 'ping', {})
      clearTimeout(link.silence)
      link.silence = setTimeout(() => replace(link), delays.pong)
    },
    close () {
      isClosed = true
      disconnect()
    }
  }
}

const is = <Type extends ServerFrameType>(frame: ServerFrame, type: Type): frame is ServerFrame<Type> =>
  frame.type === type

function say<Type extends keyof ClientFrames> ({ socket, connectedAt }: Link, type: Type, data: ClientFrames[Type]) {
  // What is said earlier is said after `hello`.
  if (connectedAt !== undefined) socket.send(JSON.stringify({ type, data }))
}

function drop ({ socket, silence }: Link) {
  clearTimeout(silence)
  socket.onclose = null
  socket.onmessage = null
  socket.close()
}

/** Whether `id` is after `position`; both are `<epoch>-<number>`, and epochs cannot be compared. */
function isNewer (id: string, position: string | undefined) {
  const [epoch, number] = id.split('-')
  const [knownEpoch, known] = (position ?? '').split('-')
  return epoch !== knownEpoch || Number(number) > Number(known)
}

/** In a browser, the address of a page's own server is a path. */
const absolute = (url: string) =>
  url.startsWith('/') ? `${(globalThis as { location?: { origin: string } }).location?.origin}${url}` : url
