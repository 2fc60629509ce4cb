import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/service-kit'
import type { Db } from './tables.ts'

const HOUR = 60 * 60 * 1_000

/** Deletes what no longer matters to anyone, now and every hour. */
export const startHousekeeping = (db: Db, log: Log) =>
  runPeriodically(async () => await deleteExpiredIdempotencyKeys(db), { intervalMs: HOUR, log })
