// The operators' console: a program of its own, beside the gateway and with a port of its own. It imports nothing of the
// gateway, and calls the services as its operators.
import { readBrand } from '@tandem/brand-kit'
import { run, serveMetrics } from '@tandem/process-kit'
import { createConsole } from './app.ts'
import { readConsoleConfig } from './config.ts'

await run('console', async (onClose, log) => {
  // First: a faulty brand refuses the start.
  readBrand()
  const config = readConsoleConfig()

  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(metrics.close)

  const app = await createConsole(config, log)
  onClose(() => app.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
