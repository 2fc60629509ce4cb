import { checkMailBacklog } from '@tandem/mail-kit'
import { startAudit } from '@tandem/operator-kit'
import { runService, workOfFeature } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { startBroadcasting } from './broadcasts/actions.ts'
import { Config } from './config.ts'
import { createDeps, startQueues } from './create-deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { startProducerEvents } from './producers/handle.ts'
import { checkPushBacklog } from './push/backlog.ts'
import { startMatchCounts } from './webhooks/match-counts.ts'

await runService({
  name: 'notification',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startQueues,
    startBroadcasting,
    startHousekeeping,
    startProducerEvents,
    workOfFeature('fitmatch', startMatchCounts),
    ({ erasure }, log) => erasure.start(log),
    startAudit
  ],
  checks: ({ db, pushes, erasure }) => ({
    erasure: { check: async () => await erasure.checkCompared(), required: true },
    redis: { check: () => pushes.ping(), required: false },
    mail: { check: () => checkMailBacklog(db), required: false },
    pushes: { check: () => checkPushBacklog(db), required: false }
  })
})
