import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import metrics from 'fastify-metrics'
import client from 'prom-client'

/**
 * The registry of all metrics of the process: `new Gauge({ …, registers: [registry] })`. It is also prom-client's
 * default.
 */
export const registry = client.register

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Counts and times the requests of `app` by route pattern. */
export async function measureRequests (app: FastifyInstance) {
  // A process has one server. Tests create several; each further one gets its own registry, because a metric name can
  // be registered only once.
  const isRegistered = registry.getSingleMetric('http_request_duration_seconds') !== undefined
  const registers = [isRegistered ? new client.Registry() : registry]
  await app.register(metrics.default, {
    promClient: client,
    endpoint: null,
    defaultMetrics: { enabled: !isRegistered },
    routeMetrics: {
      enabled: { histogram: true, summary: false },
      routeBlacklist: ['/health/live', '/health/ready'],
      overrides: { histogram: { buckets: BUCKETS_SECONDS, registers }, summary: { registers } }
    }
  } as never)
}

/**
 * Serves GET /metrics on a separate port, so that it is never publicly reachable. Without a port it does nothing.
 * Returns the actual port and a function that stops the server.
 */
export async function serveMetrics (port: number | undefined, host = '127.0.0.1') {
  if (port === undefined) return { port, close: async () => {} }
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') {
      return void response.writeHead(404).end()
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end()
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
