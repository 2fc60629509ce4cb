import httpProxy from '@fastify/http-proxy'
import { NotFound, PayloadTooLarge, ServiceUnavailable, UnsupportedMediaType } from '@tandem/http-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lengthOf, limitBody, readBody } from './bodies.ts'
import { forward } from './forward.ts'
import type { Upstream } from './pools.ts'
import type { Limit } from '../config.ts'
import { BASE_PATH, DEFAULT_BODY_BYTES, routesOf } from '../routes.ts'
import type { Route } from '../routes.ts'
import { createConcurrencyLimiter } from './concurrency.ts'

export const TIMEOUT_MS = 3_000
const STREAM_TIMEOUT_MS = 10_000
// Two of a service's eight streaming connections. The app uploads six photos at once: the others wait, unread.
const streamsPerAccount = { concurrency: 2, maxQueued: 8, maxWaitMs: 5_000 }

// Spellings that this router and a service's might read differently. They could bypass a rate limit or the bearer
// token.
const ambiguousPath = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)|\\|%(?:2f|5c|[01]\w)/i

function rejectAmbiguousPath (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  done(ambiguousPath.test(request.url.split('?', 1)[0] ?? '') ? new NotFound() : undefined)
}

interface Options {
  upstreams: Upstream[]
  /** Rate limits, by method and path. */
  limits: Map<string, Limit[]>
  /** Write limits of one account, by variable. */
  writeLimits: Map<string, Limit[]>
}

/** Proxies every route of `upstreams`, without BASE_PATH. */
export async function proxyRoutes (app: FastifyInstance, { upstreams, limits, writeLimits }: Options) {
  // The service validates the body. The gateway's handler decides whether to buffer or to stream it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  for (const upstream of upstreams) {
    const acquire = createConcurrencyLimiter(streamsPerAccount)
    for (const route of routesOf(upstream.name)) {
      const [limit, ...additionalLimits] = limits.get(`${route.methods.join()} ${route.path}`) ?? []
      await app.register(httpProxy, {
        upstream: upstream.origin,
        // The plugin sends nothing through it; without one, every route would create a pool of its own.
        undici: { request: upstream.pool.request.bind(upstream.pool) } as never,
        prefix: BASE_PATH,
        routes: [route.path],
        httpMethods: route.methods,
        proxyPayloads: false,
        preHandler: rejectAmbiguousPath,
        config: {
          public: route.public,
          unauthorizedOnly: route.unauthorizedOnly,
          ...(limit && { rateLimit: { max: limit.max, timeWindow: limit.windowMs }, additionalLimits }),
          accountLimits: [...writeLimits].filter(([name]) => name === 'LIMIT_WRITES' || name === route.writeLimit)
        },
        handler: createHandler(upstream, route, acquire)
      })
    }
  }
}

function createHandler (
  upstream: Upstream,
  { maxBodyBytes = DEFAULT_BODY_BYTES, maxConcurrentLargeBodies = Infinity }: Route,
  acquire: ReturnType<typeof createConcurrencyLimiter>
) {
  let largeBodies = 0

  return (request: FastifyRequest, reply: FastifyReply, destination: string) => {
    const { raw } = request
    const query = request.url.indexOf('?')
    const path = query === -1 ? destination : destination + request.url.slice(query)
    const length = raw.method === 'GET' || raw.method === 'HEAD' ? 0 : lengthOf(raw)

    if (length === 0) {
      return forward(request, reply, { upstream, path, body: null, length: undefined, timeoutMs: TIMEOUT_MS })
    }
    // Services do not decompress: a limit on the length of a compressed body would limit nothing.
    if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) throw new UnsupportedMediaType()
    if (length !== undefined && length > maxBodyBytes) throw new PayloadTooLarge()

    if (maxBodyBytes === DEFAULT_BODY_BYTES || (length !== undefined && length <= DEFAULT_BODY_BYTES)) {
      readBody(raw, maxBodyBytes)
        .then((body) => forward(request, reply, { upstream, path, body, length: body.length, timeoutMs: TIMEOUT_MS }))
        .catch((error: unknown) => reply.send(error))
      return
    }

    acquire(request.account.id)
      .then((release) => {
        if (reply.raw.destroyed) return release()
        if (largeBodies >= maxConcurrentLargeBodies) {
          release()
          throw new ServiceUnavailable()
        }
        largeBodies++
        reply.raw.once('close', () => {
          largeBodies--
          release()
        })
        forward(request, reply, {
          upstream,
          path,
          body: limitBody(raw, maxBodyBytes),
          length,
          timeoutMs: STREAM_TIMEOUT_MS
        })
      })
      .catch((error: unknown) => reply.send(error))
  }
}
