import { clearIdempotencyKeys } from '@tandem/database-kit'
import { repeat, type Log } from '@tandem/service-kit'
import type { Db } from './tables.ts'

const HOUR = 60 * 60 * 1_000

/** Deletes what no longer matters to anyone, now and every hour. */
export const startHousekeeping = (db: Db, log: Log) =>
  repeat(async () => await clearIdempotencyKeys(db), { every: HOUR, log })
