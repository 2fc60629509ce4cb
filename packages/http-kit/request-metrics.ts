import type { FastifyInstance } from 'fastify'
import client from 'prom-client'
import { registry } from '@tandem/process-kit'

const duration = new client.Histogram({
  name: 'http_request_duration_seconds',
  help: 'request duration in seconds',
  labelNames: ['method', 'route', 'status_code'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [registry]
})

/** Counts and times the requests of `app` by route pattern. Health probes and unknown paths are left out. */
export function measureRequests (app: FastifyInstance) {
  app.addHook('onResponse', (request, reply, done) => {
    const { config } = request.routeOptions
    if (config.url !== undefined && config.logged !== false) {
      duration.observe(
        { method: request.method, route: config.url, status_code: reply.statusCode },
        reply.elapsedTime / 1_000
      )
    }
    done()
  })
}
