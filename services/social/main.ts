import { startAudit } from '@tandem/operator-kit'
import { runService } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps } from './create-deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { startCopying } from './reports/background.ts'

await runService({
  name: 'social',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startHousekeeping,
    startCopying,
    ({ ranking }, log) => ranking.start(log),
    ({ erasure }, log) => erasure.start(log),
    startAudit
  ],
  checks: ({ erasure }) => ({
    erasure: { check: async () => await erasure.checkCompared(), required: true }
  })
})
