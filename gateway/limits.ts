import rateLimitPlugin from '@fastify/rate-limit'
import { RateLimited } from '@tandem/service-kit'
import type { FastifyInstance } from 'fastify'
import type { Limit } from './config.ts'
import { createMemory } from './hits-in-memory.ts'
import type { HitCounter } from './hits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limits beside the one of `rateLimit`. What that one refuses is not counted by these. */
    furtherLimits?: Limit[]
  }
}

/**
 * Lets routes be limited with `config: { rateLimit: { max, timeWindow } }`. Windows are fixed: they begin with a client's first
 * attempt. A client is an IPv4 address or the /64 of an IPv6 address, which is what one customer gets.
 */
export async function limitRoutes (app: FastifyInstance, { hits }: { hits: HitCounter }) {
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
    errorResponseBuilder: () => new RateLimited()
  })
  app.addHook('preHandler', (request, reply, done) => {
    const { method, url, config: { furtherLimits = [] } } = request.routeOptions
    if (furtherLimits.length === 0) return done()
    const client = rateLimitPlugin.normalizeIP(request.ip)
    Promise.all(furtherLimits.map(async ({ max, window }) => ({ max, ...await hits.count(`${window} ms of ${String(method)} ${url} ${client}`, window) })))
      .then((counts) => {
        const over = counts.filter(({ current, max }) => current > max)
        if (over.length === 0) return done()
        reply.header('retry-after', String(Math.ceil(Math.max(...over.map(({ ttl }) => ttl)) / 1_000)))
        done(new RateLimited())
      })
      .catch(done)
  })
}

/** Refuses who asks for more than `limit` of all routes together. It counts in this process alone: a shield, not a quota. */
export function limitFloods (app: FastifyInstance, limit: Limit) {
  const memory = createMemory()
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.logged === false) return done()
    const { current, ttl } = memory.count(rateLimitPlugin.normalizeIP(request.ip), limit.window)
    if (current <= limit.max) return done()
    reply.header('retry-after', String(Math.ceil(ttl / 1_000)))
    done(new RateLimited())
  })
}
