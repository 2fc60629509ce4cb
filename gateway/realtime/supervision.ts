import { ACCESS_TOKEN } from '@tandem/http-kit'
import { close, isStalled, move, send, terminate, wake, type Connection } from './connection.ts'
import { refreshPresence } from './presence.ts'
import type { Times } from './times.ts'
import { isStream } from './transports.ts'

const SKEW_MS = ACCESS_TOKEN.clockSkewSeconds * 1_000

/** What the ticker tells each connection once a second. */
export interface Tick {
  now: number
  hasSignals: boolean
  hasKey: (kid: string) => boolean
}

/**
 * Decides whether a connection may live on: by its token, its heartbeat, its age, and whether the client reads. Then
 * looks for what signals did not bring.
 */
export function supervise (connection: Connection, tick: Tick) {
  if (!connection.transport || connection.isClosed) return
  if (!tick.hasKey(connection.token.kid)) return close(connection, 4401)
  const { stalledSince, isWoken, dueAt } = connection
  if (stalledSince === undefined && !isWoken && tick.now < dueAt) return
  checkToken(connection)
  checkHeartbeat(connection, tick.now)
  if (tick.now > connection.movesAt && !connection.isMoving) move(connection, 0)
  if (isStalled(connection)) checkStalled(connection, tick.now)
  else lookForNews(connection, tick)
  connection.dueAt = nextCheckAt(connection, tick)
}

const pollMs = ({ poll, pollWithoutSignals }: Times, { hasSignals }: Tick) => hasSignals ? poll : pollWithoutSignals

/** Tokens, heartbeats and looks for news are in time; the rest, and a loss of the signals, are noticed a little later. */
function nextCheckAt (connection: Connection, tick: Tick) {
  const { isExpiring, heardAt, pingedAt, readAt, transport, shared: { times } } = connection
  const expiresAt = tick.now + msUntilExpiry(connection)
  const awaitsPong = pingedAt !== undefined && transport !== undefined && !isStream(transport)
  return Math.min(
    tick.now + times.pollWithoutSignals,
    readAt + pollMs(times, tick),
    isExpiring ? expiresAt + SKEW_MS : expiresAt - times.expiryWarning,
    awaitsPong ? pingedAt + times.pongTimeout : (pingedAt ?? heardAt) + times.heartbeat
  )
}

function lookForNews (connection: Connection, tick: Tick) {
  const { shared: { times }, presence, presenceReadAt, isWoken, readAt } = connection
  const presenceMs = presence && presence.watched.length > 0 ? times.presence : times.activity
  if (tick.now - presenceReadAt > presenceMs) refreshPresence(connection)
  if (isWoken || tick.now - readAt > pollMs(times, tick)) wake(connection)
}

const msUntilExpiry = ({ token: { expiresAt } }: Connection) => expiresAt * 1_000 - Date.now()

function checkToken (connection: Connection) {
  const { token: { expiresAt }, shared: { times } } = connection
  const leftMs = msUntilExpiry(connection)
  if (leftMs < -SKEW_MS) return close(connection, 4401)
  if (connection.isExpiring || leftMs > times.expiryWarning) return
  connection.isExpiring = true
  send(connection, 'token.expiring', { expiresAt: new Date(expiresAt * 1_000).toISOString() })
}

function checkHeartbeat (connection: Connection, now: number) {
  const { pingedAt, heardAt, transport, shared: { times } } = connection
  if (pingedAt !== undefined && transport !== undefined && !isStream(transport)) {
    if (now - pingedAt > times.pongTimeout) close(connection, 4408)
  } else if (now - (pingedAt ?? heardAt) > times.heartbeat) {
    send(connection, 'ping')
    connection.pingedAt = now
  }
}

/** Ends a client that reads nothing: it resumes with its next connection. */
function checkStalled (connection: Connection, now: number) {
  const { stalledSince = now, shared: { times } } = connection
  if (now - stalledSince > times.maxStalled) terminate(connection, 'stalled')
}
