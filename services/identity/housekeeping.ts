import { sql } from 'kysely'
import { runPeriodically, settleAll, type Log } from '@tandem/process-kit'
import { expireUnverifiedAccounts } from './erasures/expiry.ts'
import type { Deps } from './deps.ts'
import { deleteReplacedKeys } from './keys/actions.ts'
import { remindOfDeletions } from './deletion/mails.ts'
import { deleteUsedTokens } from './providers/actions.ts'
import type { Db } from './tables.ts'
import { deleteOldSecurityEvents } from './security-log/actions.ts'
import { endIdleSessions } from './sessions/actions.ts'
import { deleteOldNetworks } from './sessions/networks.ts'
import { deleteOldResponses } from './sessions/refresh.ts'
import { deleteOldChallenges } from './staff/challenges.ts'
import { deleteOldStaffSessions } from './staff/sessions.ts'
import { expireSubscriptions } from './subscriptions/actions.ts'

const MINUTE_MS = 60 * 1_000

/** Expires and deletes what is past its lifetime, now and every minute. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(
    async () => await settleAll([() => runHousekeeping(deps.db), () => remindOfDeletions(deps)]),
    { intervalMs: MINUTE_MS, log }
  )

export async function runHousekeeping (db: Db) {
  await settleAll([
    () => expireSubscriptions(db),
    () => expireUnverifiedAccounts(db),
    () => endIdleSessions(db),
    () =>
      sql`
      delete from decisions where made_at < now() - interval '180 days'
        and account_id in (select account_id from departures)`.execute(db),
    () => deleteOldChallenges(db),
    () => deleteOldStaffSessions(db),
    () => deleteReplacedKeys(db),
    () => deleteUsedTokens(db),
    () => deleteOldResponses(db),
    () => deleteOldNetworks(db),
    () => deleteOldSecurityEvents(db),
    // No session lives longer than 180 days, and ids are in time order. Without the inner select, Postgres calls uuidv7
    // for each row.
    () => sql`delete from sessions where id < (select uuidv7(interval '-181 days'))`.execute(db),
    () => sql`delete from refresh_tokens where expires_at < now()`.execute(db),
    () => sql`delete from failed_password_attempts where blocked_until < now() - interval '1 day'`.execute(db),
    () => sql`delete from password_change_attempts where last_attempted_at < now() - interval '1 hour'`.execute(db),
    () => sql`delete from proof_attempts where last_attempted_at < now() - interval '15 minutes'`.execute(db),
    () => sql`delete from proofs where expires_at < now()`.execute(db),
    () => sql`delete from email_reverts where expires_at < now()`.execute(db),
    () => sql`delete from email_changes where requested_at < now() - interval '1 day'`.execute(db),
    () => sql`delete from email_change_attempts where last_attempted_at < now() - interval '1 day'`.execute(db),
    () => sql`delete from code_attempts where day < (now() at time zone 'utc')::date`.execute(db),
    () => sql`delete from wrong_codes where entered_at < now() - interval '1 day'`.execute(db),
    () => sql`delete from code_links where expires_at < now()`.execute(db),
    () => sql`delete from codes where expires_at < now()`.execute(db),
    () => sql`delete from deletion_links where expires_at < now()`.execute(db),
    () => sql`delete from password_resets where expires_at < now()`.execute(db)
  ])
}
