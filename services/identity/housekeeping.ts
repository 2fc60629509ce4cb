import { sql, type RawBuilder } from 'kysely'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import { expireUnverifiedAccounts, scheduleExpired } from './erasures/expiry.ts'
import type { Deps } from './deps.ts'
import { deleteReplacedKeys } from './keys/actions.ts'
import { remindOfDeletions } from './deletion/mails.ts'
import { deleteUsedTokens } from './providers/actions.ts'
import { decideForgottenReferrals } from './referrals/actions.ts'
import type { Db } from './tables.ts'
import { deleteOldSecurityEvents } from './security-log/actions.ts'
import { endExpiredSessions } from './sessions/actions.ts'
import { deleteOldNetworks } from './sessions/networks.ts'
import { deleteOldResponses } from './sessions/refresh.ts'
import { deleteOldChallenges } from './staff/challenges.ts'
import { deleteOldStaffSessions } from './staff/sessions.ts'
import { updateSubscriptions } from './subscriptions/actions.ts'

const MINUTE_MS = 60 * 1_000

/** Expires and deletes what is past its lifetime, now and every minute. */
export const startHousekeeping = (deps: Deps, log: Log) =>
  runPeriodically(async () => {
    await runSteps({
      'reminders of deletions': async () => await remindOfDeletions(deps),
      referrals: async () => await decideForgottenReferrals(deps),
      'subscriptions': async () => await updateSubscriptions(deps),
      'expired data': async () => await runHousekeeping(deps.db)
    })
  }, { intervalMs: MINUTE_MS, log })

export async function runHousekeeping (db: Db) {
  const deletion = (statement: RawBuilder<unknown>) => async () => await statement.execute(db)
  await runSteps({
    'expired sessions': async () => await endExpiredSessions(db),
    'staff sessions': async () => await deleteOldStaffSessions(db),
    // No session lives longer than 180 days, and ids are in time order. Without the inner select, Postgres calls uuidv7
    // for each row. One that has not ended yet waits, because its end is published.
    sessions: deletion(sql`
      delete from sessions where id < (select uuidv7(interval '-181 days')) and ended_at is not null`),
    'refresh tokens': deletion(sql`delete from refresh_tokens where expires_at < now()`),
    'replaced keys': async () => await deleteReplacedKeys(db),
    'unverified accounts': async () => await expireUnverifiedAccounts(db),
    'expired accounts': async () => await scheduleExpired(db),
    'store notifications': deletion(sql`
      delete from store_notifications where received_at < now() - interval '90 days'`),
    'reports of problems': deletion(sql`delete from issue_reports where created_at < now() - interval '180 days'`),
    decisions: deletion(sql`
      delete from decisions where made_at < now() - interval '180 days'
        and account_id in (select account_id from departures)`),
    challenges: async () => await deleteOldChallenges(db),
    'used tokens': async () => await deleteUsedTokens(db),
    responses: async () => await deleteOldResponses(db),
    networks: async () => await deleteOldNetworks(db),
    'security events': async () => await deleteOldSecurityEvents(db),
    'failed password attempts': deletion(sql`
      delete from failed_password_attempts where blocked_until < now() - interval '1 day'`),
    'password change attempts': deletion(sql`
      delete from password_change_attempts where last_attempted_at < now() - interval '1 hour'`),
    'proof attempts': deletion(sql`
      delete from proof_attempts where last_attempted_at < now() - interval '15 minutes'`),
    proofs: deletion(sql`delete from proofs where expires_at < now()`),
    'email reverts': deletion(sql`delete from email_reverts where expires_at < now()`),
    'email changes': deletion(sql`delete from email_changes where requested_at < now() - interval '1 day'`),
    'email change attempts': deletion(sql`
      delete from email_change_attempts where last_attempted_at < now() - interval '1 day'`),
    'code attempts': deletion(sql`delete from code_attempts where day < (now() at time zone 'utc')::date`),
    'wrong codes': deletion(sql`delete from wrong_codes where entered_at < now() - interval '1 day'`),
    'code links': deletion(sql`delete from code_links where expires_at < now()`),
    codes: deletion(sql`delete from codes where expires_at < now()`),
    'deletion links': deletion(sql`delete from deletion_links where expires_at < now()`),
    'password resets': deletion(sql`delete from password_resets where expires_at < now()`)
  })
}
