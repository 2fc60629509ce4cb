import { run, serveMetrics } from '@tandem/process-kit'
import { createGateway } from './app.ts'
import { readGatewayConfig } from './config.ts'

await run('gateway', async (onClose, log) => {
  const config = readGatewayConfig()

  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(metrics.close)

  const app = await createGateway(config, log)
  onClose(() => app.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
