import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import client from 'prom-client'

/**
 * The registry of all metrics of the process: `new Gauge({ …, registers: [registry] })`. It is also prom-client's
 * default.
 */
export const registry = client.register

/**
 * Serves GET /metrics on a separate port, so that it is never publicly reachable, with those of Node and of the process.
 * Without a port it does nothing. Returns the actual port and a function that stops the server.
 */
export async function serveMetrics (port: number | undefined, host = '127.0.0.1') {
  if (port === undefined) return { port, close: async () => {} }
  // A process serves them once. Tests do it several times.
  if (!registry.getSingleMetric('process_cpu_seconds_total')) client.collectDefaultMetrics()
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

const unread = new client.Gauge({
  name: 'metrics_unread',
  help: 'A metric that is left out because it could not be read: its server is down, or its query fails',
  labelNames: ['metric'] as const
})

/** All metrics that can be read: one that asks a server which is down must not take the others along. */
async function readMetrics () {
  const failed: string[] = []
  const texts = await Promise.all(
    registry.getMetricsAsArray().filter((metric) => metric.name !== 'metrics_unread').map(async ({ name }) =>
      await registry.getSingleMetricAsString(name).catch(() => void failed.push(name))
    )
  )
  unread.reset()
  for (const metric of failed) unread.set({ metric }, 1)
  texts.push(await registry.getSingleMetricAsString('metrics_unread'))
  return texts.filter(Boolean).join('\n\n') + '\n'
}
