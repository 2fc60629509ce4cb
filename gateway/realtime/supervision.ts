import { ACCESS_TOKEN, type VerifiedToken } from '@tandem/http-kit'
import type { ServerFrameType } from '@tandem/contracts/realtime'
import type { Times } from './times.ts'
import type { Transport } from './transports.ts'

const MAX_UNSENT_BYTES = 64 * 1024

/** What the ticker tells each connection once a second. */
export interface Tick {
  now: number
  hasSignals: boolean
  hasKey: (kid: string) => boolean
}

interface Supervised {
  send: (type: ServerFrameType, data?: unknown) => void
  close: (code: 4401 | 4408) => void
  terminate: (reason: string) => void
}

/** Decides whether a connection may live on: by its token, its heartbeat, its age, and whether the client reads. */
export function createSupervision (verified: VerifiedToken, times: Times, { send, close, terminate }: Supervised) {
  let token = verified
  let isExpiring = false
  let heardAt = Date.now()
  let pingedAt: number | undefined
  let stalledSince: number | undefined
  const movesAt = heardAt + times.maxLife * (1 + Math.random() / 3)
  let isMoving = false

  const isStalled = (transport: Transport) => transport.unsentBytes() > MAX_UNSENT_BYTES

  function checkToken (now: number, hasKey: Tick['hasKey']) {
    const expiresAtMs = token.expiresAt * 1_000
    if (now > expiresAtMs + ACCESS_TOKEN.clockSkewSeconds * 1_000 || !hasKey(token.kid)) return close(4401)
    if (isExpiring || now < expiresAtMs - times.expiryWarning) return
    isExpiring = true
    send('token.expiring', { expiresAt: new Date(expiresAtMs).toISOString() })
  }

  function checkHeartbeat (now: number, { kind }: Transport) {
    if (pingedAt !== undefined && kind === 'websocket') {
      if (now - pingedAt > times.pongTimeout) close(4408)
    } else if (now - (pingedAt ?? heardAt) > times.heartbeat) {
      send('ping')
      pingedAt = now
    }
  }

  /** Ends a client that reads nothing: it resumes with its next connection. */
  function checkUnsent (now: number, transport: Transport) {
    if (!isStalled(transport)) stalledSince = undefined
    else if (now - (stalledSince ??= now) > times.maxStalled) terminate('stalled')
  }

  function move (afterMs: number) {
    isMoving = true
    send('reconnect', { afterMs })
  }

  return {
    token: () => token,
    isStalled,
    check ({ now, hasKey }: Tick, transport: Transport) {
      checkToken(now, hasKey)
      checkHeartbeat(now, transport)
      checkUnsent(now, transport)
      if (now > movesAt && !isMoving) move(0)
    },
    /** The client has sent something. */
    hearFrom () {
      heardAt = Date.now()
      pingedAt = undefined
    },
    /** Takes a new token. It must be of the same account and session. */
    renew (renewed: VerifiedToken) {
      const { id, sessionId } = verified.account
      if (renewed.account.id !== id || renewed.account.sessionId !== sessionId) return close(4401)
      token = renewed
      isExpiring = false
    },
    move
  }
}
