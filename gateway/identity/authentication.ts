import { createKeySet, createVerifiedKeyFetcher } from '@tandem/service-kit'
import type { KeySet, Log } from '@tandem/service-kit'
import type { JsonClient } from './fetch-json.ts'

/** What identity says about who may come in. */
export interface Identity {
  keys: KeySet
  /** Whether there were keys at any time: from then on nobody who may come in is turned away. */
  hasKeys (): boolean
  /** Whether the session has ended, as of half a second ago. Kept while identity is away. */
  isRevoked (sessionId: string): boolean
  close (): void
}

const timeoutMs = 2_000
const betweenPolls = 500
// An access token lives for 15 minutes; who ended before that has none left.
const remembered = 20 * 60_000
// What was committed late, or by a clock that runs ahead, is asked for again.
const overlap = 5_000

/** @param rootKeys the public keys without whose signature no other key is believed */
export function watchIdentity (url: string, rootKeys: string[], { ask }: Pick<JsonClient, 'ask'>, log: Log): Identity {
  const ended = new Map<string, number>()
  let had = false
  let closed = false
  let failing = false
  let since = new Date(Date.now() - remembered).toISOString()
  let timer: NodeJS.Timeout | undefined

  const fetchKeys = createVerifiedKeyFetcher(async () => {
    const { signed } = await ask(`${url}/internal/signing-keys`, timeoutMs) as { signed: string }
    return signed
  }, rootKeys)
  const keys = createKeySet(async () => {
    const keys = await fetchKeys()
    had ||= keys.length > 0
    return keys
  }, log)

  async function poll () {
    try {
      const address = `${url}/internal/revoked-sessions?since=${encodeURIComponent(since)}`
      const { sessions, until } = await ask(address, timeoutMs) as { sessions: string[], until: string }
      const now = Date.now()
      for (const id of sessions) {
        // Anew at the end, so that the map stays in the order of time.
        ended.delete(id)
        ended.set(id, now)
      }
      since = new Date(Date.parse(until) - overlap).toISOString()
      for (const [id, at] of ended) {
        if (at > now - remembered) break
        ended.delete(id)
      }
      if (failing) log.info('ended sessions are known again')
      failing = false
    } catch (error) {
      if (!failing && !closed) log.warn({ err: error }, 'identity does not tell which sessions ended, the last ones are kept')
      failing = true
    }
    if (!closed) timer = setTimeout(poll, betweenPolls).unref()
  }
  void poll()

  return {
    keys,
    hasKeys: () => had,
    isRevoked: (sessionId) => ended.has(sessionId),
    close () {
      closed = true
      clearTimeout(timer)
      keys.close()
    }
  }
}
