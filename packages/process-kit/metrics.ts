import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import client from 'prom-client'

/**
 * The registry of all metrics of the process: `new Gauge({ …, registers: [registry] })`. It is also prom-client's
 * default.
 */
export const registry = client.register

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
    void readMetrics().then((text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text))
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

/** All metrics that can be read: one that asks a server which is down must not take the others along. */
async function readMetrics () {
  const texts = await Promise.all(
    registry.getMetricsAsArray().map(async ({ name }) => await registry.getSingleMetricAsString(name).catch(() => ''))
  )
  return texts.filter(Boolean).join('\n\n') + '\n'
}
