import { createPublicKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { Unavailable } from '@tandem/process-kit'

/** A public key as a JWK (RFC 7517). */
export interface PublicJwk {
  kid?: string
  alg?: string
  use?: string
  kty?: string
  crv?: string
  x?: string
  y?: string
}

/** The public keys that verify access tokens. */
export interface KeySet {
  /**
   * The key as PEM, or undefined if there is no such key.
   * @throws Unavailable if that cannot be determined right now
   */
  find(kid: string): Promise<string | undefined>
  /** Whether the key is in the current set. */
  has(kid: string): boolean
  close(): void
}

const REFRESH_INTERVAL_MS = 5 * 60_000
const FIRST_RETRY_MS = 200
const RETRY_MS = 5_000
// However many key ids an attacker invents, they cost one fetch every 30 s, or one a second while fetching fails.
const UNKNOWN_KEY_REFRESH_MS = 30_000
const UNKNOWN_KEY_RETRY_MS = 1_000

function readKeys (published: PublicJwk[]) {
  const keys = new Map<string, string>()
  for (const { kid, alg = 'ES256', ...key } of published) {
    if (typeof kid !== 'string' || alg !== 'ES256' || key.kty !== 'EC' || key.crv !== 'P-256') continue
    keys.set(kid, createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string)
  }
  if (keys.size === 0) throw new Error('the key set contains no ES256 key')
  return keys
}

/**
 * Caches the keys that `fetchKeys` returns and refreshes them. The last good set stays in use until a newer one is
 * fetched, so a service keeps authenticating its callers while identity is unavailable.
 */
export function createKeySet (fetchKeys: () => Promise<PublicJwk[]>, log: FastifyBaseLogger): KeySet {
  let keys: Map<string, string> | undefined
  let fetching: Promise<void> | undefined
  let failed = false
  let fetchedAt = 0
  let closed = false
  let timer: NodeJS.Timeout | undefined

  function refresh () {
    fetching ??= (async () => {
      try {
        keys = readKeys(await fetchKeys())
        failed = false
      } catch (error) {
        if (!failed) {
          log.warn(
            { err: error },
            keys ? 'refreshing the keys failed; the last set stays in use' : 'fetching the keys failed; retrying'
          )
        }
        failed = true
      }
      fetchedAt = Date.now()
      fetching = undefined
      clearTimeout(timer)
      if (!closed) {
        timer = setTimeout(refresh, failed ? (keys ? RETRY_MS : FIRST_RETRY_MS) : REFRESH_INTERVAL_MS).unref()
      }
    })()
    return fetching
  }
  void refresh()

  return {
    async find (kid) {
      if (!keys) await refresh()
      if (!keys) throw new Unavailable()
      const found = keys.get(kid)
      if (found) return found

      if (fetching || Date.now() - fetchedAt >= (failed ? UNKNOWN_KEY_RETRY_MS : UNKNOWN_KEY_REFRESH_MS)) {
        await refresh()
      }
      // A key that identity created while it is unreachable may be valid, and a 401 would sign its owner out.
      if (failed && !keys.has(kid)) throw new Unavailable()
      return keys.get(kid)
    },
    has: (kid) => keys?.has(kid) ?? false,
    close () {
      closed = true
      clearTimeout(timer)
    }
  }
}
