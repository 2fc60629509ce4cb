import { checkMailBacklog } from '@tandem/mail-kit'
import { startAudit } from '@tandem/operator-kit'
import { runService } from '@tandem/service-kit'
import { createApp, createHandlers, createRpcHandlers } from './app.ts'
import { Config } from './config.ts'
import { createDeps, startQueues } from './create-deps.ts'
import { startErasing } from './erasures/schedule.ts'
import { startExporting } from './exports/worker.ts'
import { startChecking } from './purchases/checks.ts'
import { startHousekeeping } from './housekeeping.ts'
import { readKeySet } from './keys/queries.ts'
import { startEndingRestrictions } from './decisions/restriction-ends.ts'
import { storeAuditHead } from './staff/audit-heads.ts'
import { startDeriving } from './subscriptions/actions.ts'

await runService({
  name: 'identity',
  config: Config,
  createDeps,
  createApp,
  consumers: createHandlers,
  rpc: createRpcHandlers,
  background: [
    startQueues,
    startHousekeeping,
    startEndingRestrictions,
    startDeriving,
    startErasing,
    startExporting,
    startChecking,
    ({ erasure }, log) => erasure.start(log),
    ({ db, privateStorage }, log) => startAudit({ db, storeHead: storeAuditHead(privateStorage) }, log)
  ],
  checks: ({ db, mailer }) => ({
    redis: { check: () => mailer.ready(), required: false },
    mail: { check: () => checkMailBacklog(db), required: false }
  }),
  fetchKeys: async ({ db }) => await readKeySet(db)
})
