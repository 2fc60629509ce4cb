import rateLimitPlugin from '@fastify/rate-limit'
import { RateLimited } from '@tandem/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Limit } from '../config.ts'
import { createMemoryCounter } from './memory-counter.ts'
import type { HitCounter } from './counter.ts'
import { isReading } from '../routes.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limits beside the one of `rateLimit`. What that one refuses is not counted by these. */
    furtherLimits?: Limit[]
    /** The limits of what one account writes, by a name of what is counted. */
    accountLimits?: [name: string, limits: Limit[]][]
  }
}

interface Options {
  hits: HitCounter
  /** Whether a refusal tells callers on this machine how to lift the limit. */
  explains: boolean
}

const isLocal = (ip: string) => /^(::ffff:)?127\.|^::1$/.test(ip)

/** @param remedy how to lift the limit for local work */
function refusalFor ({ ip }: FastifyRequest, remedy: string, explains: boolean) {
  const error = new RateLimited()
  if (explains && isLocal(ip)) error.message += `. For work on your own machine, start with ${remedy}`
  return error
}

/**
 * Lets routes be limited with `config: { rateLimit: { max, timeWindow } }`. Windows are fixed: they begin with a client's first
 * attempt. A client is an IPv4 address or the /64 of an IPv6 address, which is what one customer gets.
 */
export async function limitRoutes (app: FastifyInstance, { hits, explains }: Options) {
  function createStore (name: string) {
    return {
      incr (client: string, done: (error: Error | null, result?: { current: number, ttl: number }) => void, window: number) {
        hits.count(`${name} ${client}`, window).then((result) => done(null, result), done)
      },
      child: ({ routeInfo }: { routeInfo: { method: string | string[], url: string } }) => createStore(`${String(routeInfo.method)} ${routeInfo.url}`)
    }
  }
  await app.register(rateLimitPlugin, {
    global: false,
    // The plugin calls it with `new`.
    store: function Store () { return createStore('') } as never,
    errorResponseBuilder: (request) => refusalFor(request, 'LIMIT_PROFILE=relaxed', explains)
  })

  /** Counts the request under each key, and refuses it when one limit is passed. */
  async function count (reply: FastifyReply, keys: { key: string, limit: Limit, remedy: string }[]) {
    const counts = await Promise.all(keys.map(async ({ key, limit, remedy }) => ({ remedy, max: limit.max, ...await hits.count(key, limit.window) })))
    const over = counts.filter(({ current, max }) => current > max).sort((one, other) => other.ttl - one.ttl)
    const [longest] = over
    if (!longest) return
    reply.header('retry-after', String(Math.ceil(longest.ttl / 1_000)))
    throw refusalFor(reply.request, longest.remedy, explains)
  }

  app.addHook('preHandler', (request, reply, done) => {
    const { method, url, config: { furtherLimits = [], accountLimits = [] } } = request.routeOptions
    const client = rateLimitPlugin.normalizeIP(request.ip)
    const keys = furtherLimits.map((limit) => ({ key: `${limit.window} ms of ${String(method)} ${url} ${client}`, limit, remedy: 'LIMIT_PROFILE=relaxed' }))
    if (request.account && !isReading(request.method)) {
      keys.push(...accountLimits.flatMap(([name, limits]) => limits.map((limit) => ({ key: `${name} ${limit.window} ${request.account.id}`, limit, remedy: `${name}=off` }))))
    }
    if (keys.length === 0) return done()
    count(reply, keys).then(() => done(), done)
  })
}

/** Refuses who asks for more than `limit` of all routes together. It counts in this process alone: a shield, not a quota. */
export function limitFloods (app: FastifyInstance, limit: Limit, { explains }: Pick<Options, 'explains'>) {
  const memory = createMemoryCounter()
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.logged === false) return done()
    const { current, ttl } = memory.count(rateLimitPlugin.normalizeIP(request.ip), limit.window)
    if (current <= limit.max) return done()
    reply.header('retry-after', String(Math.ceil(ttl / 1_000)))
    done(refusalFor(request, 'FLOOD_LIMIT=off', explains))
  })
}
