import { createPublicKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { Gauge } from 'prom-client'
import { Degraded, throttleLog, Unavailable, type HealthChecks } from '@tandem/process-kit'

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

/** The keys that identity publishes. */
export interface PublishedKeys {
  keys: PublicJwk[]
  /** When they were read, in milliseconds since 1970, by the clock of identity's Postgres. */
  issuedAt: number
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

/** A key set that fetches itself. */
export interface FetchedKeySet extends KeySet {
  checks: HealthChecks
}

// Identity publishes a set for each request, so an older one is a replay, or the clock of this process is wrong.
const MAX_CLOCK_SKEW_MS = 60_000
const REFRESH_INTERVAL_MS = 5 * 60_000
const FIRST_RETRY_MS = 200
const RETRY_MS = 5_000
// However many key ids an attacker invents, they cost one fetch every 30 s, or one a second while fetching fails.
const UNKNOWN_KEY_REFRESH_MS = 30_000
const UNKNOWN_KEY_RETRY_MS = 1_000

const clockSkew = new Gauge({
  name: 'process_clock_skew_seconds',
  help: "How far the clock of the process is behind that of identity's Postgres, as of the last fetch of the keys"
})

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
 * fetched, so a service keeps authenticating its callers while identity is unavailable. Without any set nobody can be
 * authenticated: then a required one of its health checks fails.
 */
export function createKeySet (fetchKeys: () => Promise<PublishedKeys>, log: FastifyBaseLogger): FetchedKeySet {
  let keys: Map<string, string> | undefined
  let fetching: Promise<void> | undefined
  let failed = false
  let fetchedAt = 0
  let newestIssuedAt = 0
  let skewMs = 0
  let closed = false
  let timer: NodeJS.Timeout | undefined
  const warn = throttleLog((error) =>
    log.warn(
      { err: error, clockSkewSeconds: skewMs / 1_000 },
      keys ? 'refreshing the keys failed; the last set stays in use' : 'fetching the keys failed; retrying'
    )
  )
  const isClockWrong = () => Math.abs(skewMs) > MAX_CLOCK_SKEW_MS

  async function fetchNewer () {
    const { keys: published, issuedAt } = await fetchKeys()
    skewMs = issuedAt - Date.now()
    clockSkew.set(skewMs / 1_000)
    if (isClockWrong()) throw new Error('the clocks of this process and of identity differ: check the clocks')
    if (issuedAt < newestIssuedAt) throw new Error('the key set is older than the last one')
    keys = readKeys(published)
    newestIssuedAt = issuedAt
  }

  function refresh () {
    fetching ??= (async () => {
      failed = await fetchNewer().then(() => false, (error: unknown) => {
        warn(error)
        return true
      })
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
    checks: {
      keys: {
        async check () {
          if (!keys) throw new Degraded('the keys that verify access tokens could not be fetched yet')
        },
        required: true
      },
      // Not required: a wrong clock of Postgres would make all processes unready at once.
      clock: {
        async check () {
          if (!isClockWrong()) return
          const seconds = Math.round(Math.abs(skewMs) / 1_000)
          throw new Degraded(`the clock of this process is ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead'}`)
        },
        required: false
      }
    },
    close () {
      closed = true
      clearTimeout(timer)
    }
  }
}
