import { clearIdempotencyKeys } from '@tandem/database-kit'
import { repeat, type Log } from '@tandem/service-kit'
import type { Db } from './schema.ts'

const HOUR = 60 * 60 * 1_000

/** Forgets idempotency keys that may be used anew. */
export const startHousekeeping = (db: Db, log: Log) =>
  repeat(async () => await clearIdempotencyKeys(db), { every: HOUR, log })
