import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BASE_PATH } from '../routes.ts'

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, accept-language, if-none-match, last-event-id'
const EXPOSED_HEADERS =
  'etag, retry-after, x-ignored-fields, x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset'
const MAX_AGE_SECONDS = '600'

// @fastify/cors takes 3 % more of the gateway's CPU per request, and the Vary of a service's response would overwrite the
// one it sets: docs/decisions/0015.

/**
 * Handles OPTIONS, and allows pages of `origins` (`*`: any) to call the API. The headers are added in onSend, so that a
 * page can also read a 401, which comes before any hook that is registered here.
 */
export async function enableCors (app: FastifyInstance, { origins }: { origins: string[] }) {
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (origins.includes('*') || origins.includes(origin))

  if (origins.length > 0) {
    app.addHook('onSend', (request, reply, _payload, done) => {
      const vary = reply.getHeader('vary')
      reply.header('vary', vary === undefined ? 'Origin' : `${String(vary)}, Origin`)
      const { origin } = request.headers
      if (isAllowed(origin)) {
        reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED_HEADERS)
      }
      done()
    })
  }

  const handleOptions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { origin } = request.headers
    if (isAllowed(origin) && request.headers['access-control-request-method'] !== undefined) {
      reply.headers({
        'access-control-allow-methods': ALLOWED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS
      })
    }
    return reply.code(204).header('allow', `${ALLOWED_METHODS}, OPTIONS`).send()
  }
  app.options(`${BASE_PATH}/*`, { config: { public: true } }, handleOptions)
}
