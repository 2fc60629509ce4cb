import httpProxy from '@fastify/http-proxy'
import { NotFound, PayloadTooLarge, ServiceUnavailable, UnsupportedMediaType } from '@tandem/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lengthOf, limitBody, readBody } from './bodies.ts'
import { forward } from './forward.ts'
import type { Upstream } from './pools.ts'
import type { Limit } from '../config.ts'
import { base, ordinaryBody, routesOf } from '../routes.ts'
import type { Route } from '../routes.ts'
import { createTurns } from './turns.ts'

export const timeoutMs = 3_000
const streamTimeoutMs = 10_000
// Two of a service's eight connections for streams. The screens that ask for photos send six at once: the others wait, unread.
const turnsOfAccount = { concurrency: 2, maxWaiting: 8, maxWaitMs: 5_000 }

// Spellings that the router here and the one of a service might read differently: a limit or a public route must not be slipped past.
const ambiguous = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)|\\|%(?:2f|5c|[01]\w)/i

function refuseAmbiguous (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  done(ambiguous.test(request.url.split('?', 1)[0] ?? '') ? new NotFound() : undefined)
}

interface Options {
  upstreams: Upstream[]
  /** By method and path. */
  limits: Map<string, Limit[]>
  /** Of one account, by the name of what it writes. */
  writeLimits: Map<string, Limit[]>
}

/** Passes on the requests of every route of `upstreams`, without the base of their addresses. */
export async function proxyRoutes (app: FastifyInstance, { upstreams, limits, writeLimits }: Options) {
  // What a body says is for the service to judge. It is read, or not, once a handler has made up its mind.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  for (const upstream of upstreams) {
    const takeTurn = createTurns(turnsOfAccount)
    for (const route of routesOf(upstream.name)) {
      const [limit, ...furtherLimits] = limits.get(`${route.methods.join()} ${route.path}`) ?? []
      await app.register(httpProxy, {
        upstream: upstream.origin,
        // Nothing is sent by it; without one, every route would make itself a pool.
        undici: { request: upstream.pool.request.bind(upstream.pool) } as never,
        prefix: base,
        routes: [route.path],
        httpMethods: route.methods,
        proxyPayloads: false,
        preHandler: refuseAmbiguous,
        config: {
          public: route.public,
          unauthorizedOnly: route.unauthorizedOnly,
          ...(limit && { rateLimit: { max: limit.max, timeWindow: limit.window }, furtherLimits }),
          accountLimits: [...writeLimits].filter(([name]) => name === 'LIMIT_WRITES' || name === route.writeLimit)
        },
        handler: createHandler(upstream, route, takeTurn)
      })
    }
  }
}

function createHandler (upstream: Upstream, { bodyLimit = ordinaryBody, atOnce = Infinity }: Route, takeTurn: ReturnType<typeof createTurns>) {
  let long = 0

  return (request: FastifyRequest, reply: FastifyReply, destination: string) => {
    const { raw } = request
    const query = request.url.indexOf('?')
    const path = query === -1 ? destination : destination + request.url.slice(query)
    const length = raw.method === 'GET' || raw.method === 'HEAD' ? 0 : lengthOf(raw)

    if (length === 0) return forward(request, reply, { upstream, path, body: null, length: undefined, timeoutMs })
    // No service decompresses, as a limit on a compressed body would be none.
    if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) throw new UnsupportedMediaType()
    if (length !== undefined && length > bodyLimit) throw new PayloadTooLarge()

    if (bodyLimit === ordinaryBody || (length !== undefined && length <= ordinaryBody)) {
      readBody(raw, bodyLimit)
        .then((body) => forward(request, reply, { upstream, path, body, length: body.length, timeoutMs }))
        .catch((error: unknown) => reply.send(error))
      return
    }

    takeTurn(request.account.id)
      .then((endTurn) => {
        if (reply.raw.destroyed) return endTurn()
        if (long >= atOnce) {
          endTurn()
          throw new ServiceUnavailable()
        }
        long++
        reply.raw.once('close', () => {
          long--
          endTurn()
        })
        forward(request, reply, { upstream, path, body: limitBody(raw, bodyLimit), length, timeoutMs: streamTimeoutMs })
      })
      .catch((error: unknown) => reply.send(error))
  }
}
