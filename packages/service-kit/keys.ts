import { createPublicKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceUnavailable } from './errors.ts'

/** A public key as RFC 7517 writes it. */
export interface PublicJwk {
  kid?: string
  alg?: string
  use?: string
  kty?: string
  crv?: string
  x?: string
  y?: string
}

/** The public keys that access tokens are signed with. */
export interface KeySet {
  /** The PEM of a key, or undefined when there is no such key. Throws ServiceUnavailable when that cannot be known. */
  find (kid: string): Promise<string | undefined>
  /** Whether the key is in the set right now. */
  has (kid: string): boolean
  close (): void
}

const untilRefresh = 5 * 60_000
const betweenFirstTries = 200
const afterFailure = 5_000
// A forger may make up as many key ids as he likes: they cost one fetch in half a minute, or in a second while fetching fails.
const afterUnknown = 30_000
const afterUnknownFailure = 1_000

function readKeys (published: PublicJwk[]) {
  const keys = new Map<string, string>()
  for (const { kid, alg = 'ES256', ...key } of published) {
    if (typeof kid !== 'string' || alg !== 'ES256' || key.kty !== 'EC' || key.crv !== 'P-256') continue
    keys.set(kid, createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string)
  }
  if (keys.size === 0) throw new Error('no ES256 key was published')
  return keys
}

/**
 * Keeps the keys that `fetchKeys` finds. The last good set is kept for as long as none newer can be had, so a service goes on
 * knowing its callers while identity is away.
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
        if (!failed) log.warn({ err: error }, keys ? 'the keys could not be refreshed, the last ones are kept' : 'the keys could not be fetched yet')
        failed = true
      }
      fetchedAt = Date.now()
      fetching = undefined
      clearTimeout(timer)
      if (!closed) timer = setTimeout(refresh, failed ? (keys ? afterFailure : betweenFirstTries) : untilRefresh).unref()
    })()
    return fetching
  }
  void refresh()

  return {
    async find (kid) {
      if (!keys) await refresh()
      if (!keys) throw new ServiceUnavailable()
      const found = keys.get(kid)
      if (found) return found

      if (fetching || Date.now() - fetchedAt >= (failed ? afterUnknownFailure : afterUnknown)) await refresh()
      // A key made while identity cannot be asked may well be a good one, and a 401 would log its owner out.
      if (failed && !keys.has(kid)) throw new ServiceUnavailable()
      return keys.get(kid)
    },
    has: (kid) => keys?.has(kid) ?? false,
    close () {
      closed = true
      clearTimeout(timer)
    }
  }
}
