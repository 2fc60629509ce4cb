import { sql } from 'kysely'
import { runPeriodically, type Log } from '@tandem/service-kit'
import { expireUnverified } from './accounts/actions.ts'
import { dropReplacedKeys } from './keys/actions.ts'
import { forgetUsedTokens } from './providers/actions.ts'
import type { Db } from './tables.ts'
import { deleteOldSecurityEvents } from './security-log/actions.ts'
import { endIdleSessions } from './sessions/actions.ts'
import { forgetOldNetworks } from './sessions/networks.ts'
import { deleteOldAnswers } from './sessions/refresh.ts'
import { expireSubscriptions } from './subscriptions/actions.ts'

const MINUTE = 60 * 1_000

/** Ends what has run out and deletes what no longer matters to anyone, now and every minute. */
export const startHousekeeping = (db: Db, log: Log) => runPeriodically(async () => await runHousekeeping(db), { intervalMs: MINUTE, log })

export async function runHousekeeping (db: Db) {
  await expireSubscriptions(db)
  await expireUnverified(db)
  await endIdleSessions(db)
  await dropReplacedKeys(db)
  await forgetUsedTokens(db)
  await deleteOldAnswers(db)
  await forgetOldNetworks(db)
  await deleteOldSecurityEvents(db)
  // No session lives longer than 180 days, and ids are made in time order. Without the inner select, uuidv7 would be called for each row.
  await sql`delete from sessions where id < (select uuidv7(interval '-181 days'))`.execute(db)
  await sql`delete from refresh_tokens where expires_at < now()`.execute(db)
  await sql`delete from wrong_passwords where wait_until < now() - interval '1 day'`.execute(db)
  await sql`delete from password_change_attempts where last_attempted_at < now() - interval '1 hour'`.execute(db)
  await sql`delete from code_tries where day < (now() at time zone 'utc')::date`.execute(db)
  await sql`delete from codes where expires_at < now()`.execute(db)
  await sql`delete from password_resets where expires_at < now()`.execute(db)
}
