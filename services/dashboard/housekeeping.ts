import { deleteExpiredIdempotencyKeys } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from './deps.ts'

const HOUR_MS = 60 * 60 * 1_000

/** Deletes expired data, now and every hour. */
export const startHousekeeping = ({ db }: Deps, log: Log) =>
  runPeriodically(async () => await deleteExpiredIdempotencyKeys(db), { intervalMs: HOUR_MS, log })
