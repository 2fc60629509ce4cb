import type { Kysely } from 'kysely'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import type { Server } from '@tandem/http-kit'
import { maintainAudit, readAuditHead, type AuditHead } from './audit.ts'
import { countCalls, deleteOldCalls } from './calls.ts'
import { operatorAuthentication } from './authentication.ts'
import { deleteOldReads } from './people.ts'
import { sharedRoutes, type OperatorDb } from './routes.ts'
import type { OperatorTables } from './tables.ts'

/**
 * Serves /operator: what every service offers to operators. Call it before the service's own routes below /operator are
 * registered. The gateway has no route to it.
 */
export async function serveOperators (app: Server, db: OperatorDb) {
  await app.register(operatorAuthentication, { db })
  const sunsets = new Map<string, string>()
  app.addHook('onRoute', ({ schema }) => {
    if (schema?.operationId && schema['x-sunset']) sunsets.set(schema.operationId, schema['x-sunset'])
  })
  await app.register(sharedRoutes, { db, sunsets })
  countCalls(app, db)
}

const HOUR_MS = 60 * 60 * 1_000

interface AuditDeps {
  db: Kysely<OperatorTables>
  /** Stores the end of the chain outside the database, once a day. @param day such as `2026-01-31` */
  storeHead?: (day: string, head: AuditHead) => Promise<unknown>
}

/** Keeps the partitions of the audit, and offers the end of its chain every hour, until it is stopped. */
export const startAudit = (deps: AuditDeps, log: Log) =>
  runPeriodically(async () => await runAudit(deps), { intervalMs: HOUR_MS, log })

export async function runAudit ({ db, storeHead }: AuditDeps) {
  await runSteps({
    'maintain the audit': async () => await maintainAudit(db),
    'store the head': async () => await storeHead?.(new Date().toISOString().slice(0, 10), await readAuditHead(db)),
    'delete old reads': async () => await deleteOldReads(db),
    'delete old calls': async () => await deleteOldCalls(db)
  })
}
