import { startAudit } from '@tandem/operator-kit'
import { runService } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps } from './create-deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { checkPlaces } from './places/queries.ts'
import { startLoadingPlaces } from './places/seed.ts'

await runService({
  name: 'profile',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startHousekeeping,
    ({ erasure }, log) => erasure.start(log),
    startAudit,
    ({ db }, log) => startLoadingPlaces(db, log)
  ],
  checks: ({ db, erasure }) => ({
    // Only requests with places wait for them.
    places: { check: async () => await checkPlaces(db), required: false },
    erasure: { check: async () => await erasure.checkCompared(), required: true }
  })
})
