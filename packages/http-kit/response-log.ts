import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for routes whose responses are not logged, such as health probes. */
    logged?: boolean
  }
}

const SLOW_MS = 1_000

/**
 * Logs one line per response, with the route pattern and the path, but never the query, which may contain a token.
 * @param isSampled whether only one in sixteen of the successes that take less than a second is logged, unless the level
 *   is debug
 */
export function logResponses (app: FastifyInstance, { isSampled }: { isSampled: boolean }) {
  const logsAll = !isSampled || ['debug', 'trace'].includes(app.log.level)
  app.addHook('onResponse', (request, reply, done) => {
    if (logsAll || isInSample(request, reply)) logResponse(request, reply)
    done()
  })
}

/** By the request id, so that every process logs the same requests. */
const isInSample = ({ id }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) =>
  id.startsWith('0') || statusCode >= 400 || elapsedTime >= SLOW_MS

function logResponse (request: FastifyRequest, reply: FastifyReply) {
  const { config, url } = request.routeOptions
  if (config.logged === false) return
  request.log.info({
    method: request.method,
    route: url,
    path: request.url.split('?', 1)[0]?.slice(0, 200),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10
  }, 'request completed')
}
