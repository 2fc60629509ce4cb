import { sql } from 'kysely'
import { repeat, type Log } from '@tandem/service-kit'
import type { Db } from './schema.ts'

const HOUR = 60 * 60 * 1_000

/** Forgets idempotency keys that may be used anew. */
export const startHousekeeping = (db: Db, log: Log) =>
  repeat(async () => await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db), { every: HOUR, log })
