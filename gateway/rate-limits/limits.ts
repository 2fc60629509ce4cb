import rateLimitPlugin from '@fastify/rate-limit'
import { RateLimited } from '@tandem/http-kit'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Limit } from '../config.ts'
import { createMemoryCounter } from './memory-counter.ts'
import type { RateCounter } from './counter.ts'
import { isReadMethod } from '../routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limits in addition to `rateLimit`. Attempts that `rateLimit` rejects do not count here. */
    additionalLimits?: Limit[]
    /** Whether `limitFloods` counts the requests of a route that is not logged. */
    limitsFloods?: boolean
    /** The write limits of one account, by variable. */
    accountLimits?: [name: string, limits: Limit[]][]
  }
}

interface Options {
  counter: RateCounter
  /** Whether a 429 tells callers on this machine how to lift the limit. */
  showsRemedy: boolean
}

/** The client of a request: its IPv4 address, or the /64 of its IPv6 address. */
export const clientOf = ({ ip }: FastifyRequest) => ip.includes(':') ? rateLimitPlugin.normalizeIP(ip) : ip

const isLocal = (ip: string) => /^(::ffff:)?127\.|^::1$/.test(ip)

interface Rejection {
  /** How long the limit still applies. */
  ttlMs: number
  /** The setting that lifts the limit in local development. */
  remedy: string
  showsRemedy: boolean
}

function createRateLimitedError ({ ip }: FastifyRequest, { ttlMs, remedy, showsRemedy }: Rejection) {
  return new RateLimited(Math.ceil(ttlMs / 1_000), showsRemedy && isLocal(ip) ? remedy : undefined)
}

/**
 * Enables `config: { rateLimit: { max, timeWindow } }` on routes. Windows are fixed: they begin with a client's first
 * attempt. A client is an IPv4 address or the /64 of an IPv6 address, which is what one customer gets.
 */
export async function limitRoutes (app: FastifyInstance, { counter, showsRemedy }: Options) {
  function createStore (name: string) {
    return {
      incr (
        client: string,
        done: (error: Error | null, result?: { current: number, ttl: number }) => void,
        window: number
      ) {
        counter.count(`${name} ${client}`, window).then((result) => done(null, result), done)
      },
      child: ({ routeInfo }: { routeInfo: { method: string | string[], url: string } }) =>
        createStore(`${String(routeInfo.method)} ${routeInfo.url}`)
    }
  }
  await app.register(rateLimitPlugin, {
    global: false,
    // The plugin calls it with `new`.
    store: function Store () {
      return createStore('')
    } as never,
    errorResponseBuilder: (request, { ttl }) =>
      createRateLimitedError(request, { ttlMs: ttl, remedy: 'LIMIT_PROFILE=relaxed', showsRemedy })
  })

  /** Counts the request under each key, and throws RateLimited if it exceeds any limit. */
  async function count (request: FastifyRequest, keys: { key: string, limit: Limit, remedy: string }[]) {
    const counts = await Promise.all(
      keys.map(async ({ key, limit, remedy }) => ({
        remedy,
        max: limit.max,
        ...await counter.count(key, limit.windowMs)
      }))
    )
    const exceeded = counts.filter(({ current, max }) => current > max).sort((one, other) => other.ttl - one.ttl)
    const [longest] = exceeded
    if (!longest) return
    throw createRateLimitedError(request, { ttlMs: longest.ttl, remedy: longest.remedy, showsRemedy })
  }

  app.addHook('preHandler', (request, _reply, done) => {
    const { method, url, config: { additionalLimits = [], accountLimits = [] } } = request.routeOptions
    const isRead = isReadMethod(request.method)
    if (isRead && additionalLimits.length === 0) return done()
    const client = clientOf(request)
    const keys = additionalLimits.map((limit) => ({
      key: `${limit.windowMs} ms of ${String(method)} ${url} ${client}`,
      limit,
      remedy: 'LIMIT_PROFILE=relaxed'
    }))
    if (request.account && !isRead) {
      keys.push(
        ...accountLimits.flatMap(([name, limits]) =>
          limits.map((limit) => ({
            key: `${name} ${limit.windowMs} ${request.account.id}`,
            limit,
            remedy: `${name}=off`
          }))
        )
      )
    }
    if (keys.length === 0) return done()
    count(request, keys).then(() => done(), done)
  })
}

// A client that does not wait for the end of its window repeats a refused request at once. Held for this long, a refusal
// costs the gateway nothing, and one connection gets one refusal a second instead of hundreds.
const FLOOD_REFUSAL_DELAY_MS = 1_000

/**
 * Returns a hook that limits one client address over all routes, and also counts what has no valid token: to verify one
 * is work too. It counts in this process only: a shield, not a quota. Refusals are sent after FLOOD_REFUSAL_DELAY_MS.
 */
export function limitFloods (limit: Limit, { showsRemedy }: Pick<Options, 'showsRemedy'>): onRequestHookHandler {
  const memory = createMemoryCounter()
  return (request, _reply, done) => {
    const { logged, limitsFloods } = request.routeOptions.config
    if (logged === false && !limitsFloods) return done()
    const { current, ttl } = memory.count(clientOf(request), limit.windowMs)
    if (current <= limit.max) return done()
    const refuse = () => done(createRateLimitedError(request, { ttlMs: ttl, remedy: 'FLOOD_LIMIT=off', showsRemedy }))
    setTimeout(refuse, FLOOD_REFUSAL_DELAY_MS)
  }
}
