import { setTimeout as sleep } from 'node:timers/promises'
import { createKeySet, createVerifiedKeyFetcher, type FetchedKeySet } from '@tandem/http-kit'
import type { Log } from '@tandem/process-kit'
import type { JsonClient } from './json-client.ts'

/** The signing keys and revoked sessions that identity publishes. */
export interface Identity {
  keys: FetchedKeySet
  /**
   * Whether the session is revoked, as of half a second ago. The first call after a pause waits for identity, a quarter
   * of a second at most. Kept while identity is unavailable.
   */
  isRevoked(sessionId: string): boolean | Promise<boolean>
  /** Keeps revoked sessions up to date for a while, as each call of `isRevoked` does. */
  keepWatching(): void
  /** Calls `listener` with the sessions that are found to be revoked; a session can be repeated. */
  onRevoked(listener: (sessionIds: ReadonlySet<string>) => void): void
  close(): void
}

const TIMEOUT_MS = 2_000
const POLL_INTERVAL_MS = 500
// Without requests and connections nobody needs to know, so the polls pause.
const POLL_FOR_MS = 10_000
const MAX_WAIT_MS = 250
// An access token lives for 15 minutes: a session that was revoked earlier has no valid token left.
const RETENTION_MS = 20 * 60_000
// Polls overlap to catch late commits and clocks that run ahead.
const OVERLAP_MS = 5_000

/** @param rootKeys public keys, one of which must have signed the key set */
export function watchIdentity (url: string, rootKeys: string[], { get }: Pick<JsonClient, 'get'>, log: Log): Identity {
  const listeners: ((sessionIds: ReadonlySet<string>) => void)[] = []
  const revokedSessions = new Map<string, number>()
  let closed = false
  let failing = false
  let since = new Date(Date.now() - RETENTION_MS).toISOString()
  let timer: NodeJS.Timeout | undefined
  let usedAt = Date.now()
  let isPaused = false
  let resuming: Promise<void> | undefined

  const fetchKeys = createVerifiedKeyFetcher(async () => {
    const { signed } = await get(`${url}/internal/signing-keys`, TIMEOUT_MS) as { signed: string }
    return signed
  }, rootKeys)
  const keys = createKeySet(fetchKeys, log)

  async function poll () {
    try {
      const address = `${url}/internal/revoked-sessions?since=${encodeURIComponent(since)}`
      const { sessions, until } = await get(address, TIMEOUT_MS) as { sessions: string[], until: string }
      const now = Date.now()
      for (const id of sessions) {
        // Move it to the end: the map must stay in chronological order.
        revokedSessions.delete(id)
        revokedSessions.set(id, now)
      }
      if (sessions.length > 0) { for (const listener of listeners) listener(new Set(sessions)) }
      since = new Date(Date.parse(until) - OVERLAP_MS).toISOString()
      for (const [id, at] of revokedSessions) {
        if (at > now - RETENTION_MS) break
        revokedSessions.delete(id)
      }
      if (failing) log.info('revoked sessions are received again')
      failing = false
    } catch (error) {
      if (!failing && !closed) {
        log.warn({ err: error }, 'identity does not return revoked sessions: the last known ones are kept')
      }
      failing = true
    }
    if (closed) return
    isPaused = Date.now() - usedAt > POLL_FOR_MS
    if (!isPaused) timer = setTimeout(poll, POLL_INTERVAL_MS).unref()
  }

  void poll()

  /** The first poll after a pause, or a quarter of a second of it. */
  async function resume () {
    const polling = poll()
    const waited = new AbortController()
    await Promise.race([polling, sleep(MAX_WAIT_MS, undefined, { signal: waited.signal }).catch(() => {})])
    waited.abort()
    resuming = undefined
  }

  function keepWatching () {
    usedAt = Date.now()
    if (!isPaused) return
    isPaused = false
    resuming = resume()
  }

  return {
    keys,
    isRevoked (sessionId) {
      keepWatching()
      return resuming ? resuming.then(() => revokedSessions.has(sessionId)) : revokedSessions.has(sessionId)
    },
    keepWatching,
    onRevoked: (listener) => void listeners.push(listener),
    close () {
      closed = true
      clearTimeout(timer)
      keys.close()
    }
  }
}
