import { runService } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'

await runService({
  name: 'fitmatch',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [startHousekeeping, ({ departures }, log) => departures.start(log)]
})
