import { sql } from 'kysely'
import { deleteExpiredIdempotencyKeys, deleteExpiredQuotas, deleteInChunks } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'
import { summarizeOldHeartRates } from './measurements/old-heart-rates.ts'
import type { Db } from './tables.ts'

const HOUR_MS = 60 * 60 * 1_000

/** Deletes expired data, now and every hour. */
export const startHousekeeping = ({ db }: Deps, log: Log) =>
  runPeriodically(async () => await runHousekeeping(db), { intervalMs: HOUR_MS, log })

export async function runHousekeeping (db: Db) {
  await runSteps({
    'idempotency keys': async () => await deleteExpiredIdempotencyKeys(db),
    quotas: async () => await deleteExpiredQuotas(db),
    bookings: async () =>
      await deleteInChunks(db, 'bookings', sql`ends_at < now() - interval '30 days' order by ends_at`),
    'heart rates': async () => await summarizeOldHeartRates(db)
  })
}
