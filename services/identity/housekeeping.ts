import { sql } from 'kysely'
import { repeat, type Log } from '@tandem/service-kit'
import type { Db } from './schema.ts'

const HOUR = 60 * 60 * 1_000

/** Deletes what no longer matters to anyone, now and every hour. */
export const startHousekeeping = (db: Db, log: Log) => repeat(async () => await clearOld(db), { every: HOUR, log })

async function clearOld (db: Db) {
  await sql`delete from refresh_tokens where expires_at < now()`.execute(db)
  await sql`delete from sign_in_tries where wait_until < now() - interval '1 day'`.execute(db)
  await sql`delete from code_tries where day < current_date - 1`.execute(db)
  await sql`delete from codes where expires_at < now()`.execute(db)
  await sql`delete from password_resets where expires_at < now()`.execute(db)
}
