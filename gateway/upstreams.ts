import httpProxy from '@fastify/http-proxy'
import { NotFound, PayloadTooLarge, ServiceUnavailable, UnsupportedMediaType } from '@tandem/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { lengthOf, limitBody, readBody } from './bodies.ts'
import { forward } from './forward.ts'
import type { Upstream } from './pools.ts'
import type { Limit } from './config.ts'
import { base, ordinaryBody, routesOf } from './routes.ts'
import type { Route } from './routes.ts'

export const patience = 3_000
const patienceWithStreams = 10_000

// Spellings that the router here and the one of a service might read differently: a limit or a public route must not be slipped past.
const ambiguous = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)|\\|%(?:2f|5c|[01]\w)/i

function refuseAmbiguous (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  done(ambiguous.test(request.url.split('?', 1)[0] ?? '') ? new NotFound() : undefined)
}

interface Options {
  upstreams: Upstream[]
  /** By method and path. */
  limits: Map<string, Limit[]>
}

/** Passes on the requests of every route of `upstreams`, without the base of their addresses. */
export async function passOn (app: FastifyInstance, { upstreams, limits }: Options) {
  // What a body says is for the service to judge. It is read, or not, once a handler has made up its mind.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  for (const upstream of upstreams) {
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
          ...(limit && { rateLimit: { max: limit.max, timeWindow: limit.window }, furtherLimits })
        },
        handler: createHandler(upstream, route)
      })
    }
  }
}

function createHandler (upstream: Upstream, { bodyLimit = ordinaryBody, atOnce = Infinity }: Route) {
  let long = 0
  // By account: one alone, sending slowly, must not keep everybody else waiting.
  const holding = new Map<string, number>()

  return (request: FastifyRequest, reply: FastifyReply, destination: string) => {
    const { raw } = request
    const query = request.url.indexOf('?')
    const path = query === -1 ? destination : destination + request.url.slice(query)
    const length = raw.method === 'GET' || raw.method === 'HEAD' ? 0 : lengthOf(raw)

    if (length === 0) return forward(request, reply, { upstream, path, body: null, length: undefined, patience })
    // No service decompresses, as a limit on a compressed body would be none.
    if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) throw new UnsupportedMediaType()
    if (length !== undefined && length > bodyLimit) throw new PayloadTooLarge()

    if (bodyLimit === ordinaryBody || (length !== undefined && length <= ordinaryBody)) {
      readBody(raw, bodyLimit)
        .then((body) => forward(request, reply, { upstream, path, body, length: body.length, patience }))
        .catch((error: unknown) => reply.send(error))
      return
    }

    const { id } = request.account
    const held = holding.get(id) ?? 0
    if (long >= atOnce || held >= atOnce / 2) throw new ServiceUnavailable()
    long++
    holding.set(id, held + 1)
    reply.raw.once('close', () => {
      long--
      const left = (holding.get(id) ?? 1) - 1
      if (left > 0) holding.set(id, left)
      else holding.delete(id)
    })
    forward(request, reply, { upstream, path, body: limitBody(raw, bodyLimit), length, patience: patienceWithStreams })
  }
}
