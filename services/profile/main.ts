import { startAudit } from '@tandem/operator-kit'
import { runService } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps } from './create-deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { readEdition } from './places/queries.ts'
import { loadPlaces } from './places/seed.ts'

await runService({
  name: 'profile',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startHousekeeping,
    ({ departures }, log) => departures.start(log),
    ({ db }, log) => startAudit({ db, log })
  ],
  // The places are loaded once per edition, after the start.
  checks: ({ db, departures }) => ({
    places: { check: async () => await readEdition(db), required: true },
    departures: { check: async () => await departures.checkCompared(), required: true }
  }),
  onListening: async ({ db }) => await loadPlaces(db)
})
