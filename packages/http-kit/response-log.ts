import type { FastifyInstance } from 'fastify'
import { traceId, type Log } from '@tandem/process-kit'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for routes whose responses are not logged, such as health probes. */
    logged?: boolean
  }
}

/** Logs one line per response, with the route pattern and the path, but never the query, which may contain a token. */
export function logResponses (app: FastifyInstance, log: Log) {
  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.logged !== false) {
      log.info({
        method: request.method,
        route: request.routeOptions.url,
        path: request.url.split('?', 1)[0]?.slice(0, 200),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        requestId: request.id,
        // The last bytes may be sent in the async context of another request on the same connection.
        traceId: traceId(request.trace)
      }, 'request completed')
    }
    done()
  })
}
