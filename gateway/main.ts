import { readBrand } from '@tandem/brand-kit'
import { run, serveMetrics } from '@tandem/process-kit'
import { createGateway } from './app.ts'
import { readGatewayConfig } from './config.ts'

// How much memory small buffers share. The sockets of realtime connections are allocated among such pieces; between
// those of 64 KiB, the default, holes remain that add 0.4 KB to each of ten thousand connections.
Buffer.poolSize = 8 * 1_024

await run('gateway', async (onClose, log) => {
  // First: a faulty brand refuses the start.
  readBrand()
  const config = readGatewayConfig()

  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(metrics.close)

  const app = await createGateway(config, log)
  onClose(() => app.close())
  // Called first: requests are served until the realtime connections have moved.
  onClose(() => app.drainConnections(), { extraMs: config.REALTIME_DRAIN_SECONDS * 1_000 })
  await app.listen({ host: config.HOST, port: config.PORT })
})
