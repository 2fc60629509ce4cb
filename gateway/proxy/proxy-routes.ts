import { longRequests, NotFound } from '@tandem/http-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Limit } from '../config.ts'
import { BASE_PATH, routesOf, UPLOAD_BODY_BYTES, videoBodyBytes } from '../routes.ts'
import { createDownloads } from './download.ts'
import { forwardRequest } from './forward.ts'
import { createLargeBodies } from './large-bodies.ts'
import type { Upstream } from './pools.ts'
import { createStreaming } from './streaming.ts'

// Spellings that this router and a service's might read differently. They could bypass a rate limit or the bearer
// token.
const ambiguousPath = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)|\\|%(?:2f|5c|[01]\w)/i

function rejectAmbiguousPath ({ url }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) {
  const [path = ''] = url.split('?', 1)
  done(!path.startsWith(BASE_PATH) || ambiguousPath.test(path) ? new NotFound() : undefined)
}

interface Options {
  upstreams: Upstream[]
  maxVideoMegabytes: number
  /** Rate limits, by method and path. */
  limits: Map<string, Limit[]>
  /** Write limits of one account, by variable. */
  writeLimits: Map<string, Limit[]>
}

/** Proxies every route of `upstreams`, without BASE_PATH. */
export async function proxyRoutes (
  app: FastifyInstance,
  { upstreams, maxVideoMegabytes, limits, writeLimits }: Options
) {
  // The service parses and validates the body. Here it is read only to buffer or to stream it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.addHook('preHandler', rejectAmbiguousPath)

  const largeBodies = createLargeBodies()
  for (const upstream of upstreams) {
    const addStreamingRoute = createStreaming(upstream, largeBodies)
    const download = createDownloads(upstream)
    for (const route of routesOf(upstream.name)) {
      const [limit, ...additionalLimits] = limits.get(`${route.methods[0]} ${route.path}`) ?? []
      const config = {
        logFields: { upstream: upstream.name },
        public: route.public,
        unauthorizedOnly: route.unauthorizedOnly,
        ...((route.takesVideos || (route.maxBodyBytes ?? 0) > UPLOAD_BODY_BYTES) && { longRequests }),
        ...(limit && { rateLimit: { max: limit.max, timeWindow: limit.windowMs }, additionalLimits }),
        accountLimits: [...writeLimits].filter(([name]) => name === 'LIMIT_WRITES' || name === route.writeLimit)
      }
      if (route.maxBodyBytes === undefined) {
        app.route({
          method: route.methods,
          url: BASE_PATH + route.path,
          config,
          handler: route.isDownload ? download : (request, reply) => forwardRequest(request, reply, upstream, route)
        })
      } else {
        const maxBodyBytes = route.takesVideos ? videoBodyBytes(maxVideoMegabytes) : route.maxBodyBytes
        await addStreamingRoute(app, { ...route, maxBodyBytes }, config)
      }
    }
  }
}
