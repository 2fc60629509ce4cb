import { runService } from '@tandem/service-kit'
import { createApp, createHandlers } from './app.ts'
import { startBroadcasting } from './broadcasts/actions.ts'
import { Config } from './config.ts'
import { createDeps, startQueues } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'

await runService({
  name: 'notification',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  background: [startQueues, startBroadcasting, startHousekeeping, ({ departures }, log) => departures.start(log)],
  checks: ({ pushes }) => ({ redis: { check: () => pushes.ping(), required: false } })
})
