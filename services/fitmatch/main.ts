import { startAudit } from '@tandem/operator-kit'
import { runService, workOfFeature } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { startActivityTimers } from './activities/timers.ts'
import { Config } from './config.ts'
import { createDeps } from './create-deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { startMeetingAlarms } from './meetings/alarms.ts'
import { startCopying, startLifting } from './safety/background.ts'

await runService({
  name: 'fitmatch',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startHousekeeping,
    startCopying,
    workOfFeature('activities', startActivityTimers),
    startLifting,
    workOfFeature('activities', startMeetingAlarms),
    ({ erasure }, log) => erasure.start(log),
    startAudit
  ],
  checks: ({ erasure }) => ({
    erasure: { check: async () => await erasure.checkCompared(), required: true }
  })
})
