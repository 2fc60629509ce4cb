import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import metrics from 'fastify-metrics'
import client from 'prom-client'

/** Where every metric of the process is kept: `new Gauge({ …, registers: [registry] })`, which is also prom-client's default. */
export const registry = client.register

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Counts and times the requests of `app`, by route as it is written. */
export async function measureRequests (app: FastifyInstance) {
  // A process serves one server. Tests make several; the later ones count for themselves, as a name can be taken only once.
  const taken = registry.getSingleMetric('http_request_duration_seconds') !== undefined
  const registers = [taken ? new client.Registry() : registry]
  await app.register(metrics.default, {
    promClient: client,
    endpoint: null,
    defaultMetrics: { enabled: !taken },
    routeMetrics: {
      enabled: { histogram: true, summary: false },
      routeBlacklist: ['/health/live', '/health/ready'],
      overrides: { histogram: { buckets: seconds, registers }, summary: { registers } }
    }
  } as never)
}

/**
 * Serves GET /metrics on a port of its own, so that it is never within reach of the public. Without a port it does nothing.
 * Returns the port it got and what stops it.
 */
export async function serveMetrics (port: number | undefined, host = '127.0.0.1') {
  if (port === undefined) return { port, close: async () => {} }
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
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
