import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { base } from '../routes.ts'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const mayBeSent = 'authorization, content-type, idempotency-key, accept-language, if-none-match'
const mayBeRead = 'etag, retry-after, x-ignored-fields, x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset'
const rememberedFor = '600'

/**
 * Answers OPTIONS, and lets pages of `origins` (`*` is any) call. The headers are added when an answer leaves, so that a page can read
 * a 401 too, which comes before any hook that is registered here.
 */
export async function enableCors (app: FastifyInstance, { origins }: { origins: string[] }) {
  const allows = (origin: string | undefined): origin is string => origin !== undefined && (origins.includes('*') || origins.includes(origin))

  if (origins.length > 0) {
    app.addHook('onSend', (request, reply, _payload, done) => {
      const vary = reply.getHeader('vary')
      reply.header('vary', vary === undefined ? 'Origin' : `${String(vary)}, Origin`)
      const { origin } = request.headers
      if (allows(origin)) reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', mayBeRead)
      done()
    })
  }

  const answerOptions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { origin } = request.headers
    if (allows(origin) && request.headers['access-control-request-method'] !== undefined) {
      reply.headers({ 'access-control-allow-methods': methods, 'access-control-allow-headers': mayBeSent, 'access-control-max-age': rememberedFor })
    }
    return reply.code(204).header('allow', `${methods}, OPTIONS`).send()
  }
  app.options(`${base}/*`, { config: { public: true } }, answerOptions)
}
