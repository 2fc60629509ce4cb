import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for routes whose responses are not logged, such as health probes. */
    logged?: boolean
  }
}

/** Logs one line per response, with the route pattern and the path, but never the query, which may contain a token. */
export function logResponses (app: FastifyInstance) {
  app.addHook('onResponse', (request, reply, done) => {
    if (request.routeOptions.config.logged !== false) {
      request.log.info({
        method: request.method,
        route: request.routeOptions.url,
        path: request.url.split('?', 1)[0]?.slice(0, 200),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10
      }, 'request completed')
    }
    done()
  })
}
