import { startAudit } from '@tandem/operator-kit'
import { runService, workOfFeature } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps } from './create-deps.ts'
import { startPublishingReachedGoals } from './fasting/reached-goals.ts'
import { startHousekeeping } from './housekeeping.ts'

await runService({
  name: 'dashboard',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startHousekeeping,
    workOfFeature('fasting', startPublishingReachedGoals),
    ({ erasure }, log) => erasure.start(log),
    startAudit
  ],
  checks: ({ cache, erasure }) => ({
    redis: { check: () => cache.ready(), required: false },
    erasure: { check: async () => await erasure.checkCompared(), required: true }
  })
})
