import { sql, type RawBuilder } from 'kysely'
import { deleteInChunks } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import { expireUnverifiedAccounts, scheduleExpired } from './erasures/expiry.ts'
import type { Deps } from './deps.ts'
import { deleteReplacedKeys } from './keys/actions.ts'
import { remindOfDeletions } from './deletion/mails.ts'
import { deleteUsedTokens } from './providers/actions.ts'
import { decideForgottenReferrals } from './referrals/actions.ts'
import type { Db, Tables } from './tables.ts'
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
  const deletion = (table: keyof Tables, which: RawBuilder<unknown>) => async () =>
    await deleteInChunks(db, table, which)
  await runSteps({
    'expired sessions': async () => await endExpiredSessions(db),
    'staff sessions': async () => await deleteOldStaffSessions(db),
    // No session lives longer than 180 days, and ids are in time order. Without the inner select, Postgres calls uuidv7
    // for each row. One that has not ended yet waits, because its end is published.
    sessions: deletion(
      'sessions',
      sql`id < (select uuidv7(interval '-181 days')) and ended_at is not null order by id`
    ),
    'refresh tokens': deletion('refresh_tokens', sql`expires_at < now() order by expires_at`),
    'replaced keys': async () => await deleteReplacedKeys(db),
    'unverified accounts': async () => await expireUnverifiedAccounts(db),
    'expired accounts': async () => await scheduleExpired(db),
    'store notifications': deletion(
      'store_notifications',
      sql`received_at < now() - interval '90 days' order by received_at`
    ),
    'reports of problems': deletion('issue_reports', sql`created_at < now() - interval '180 days' order by created_at`),
    decisions: deletion(
      'decisions',
      sql`made_at < now() - interval '180 days' and account_id in (select account_id from departures) order by made_at`
    ),
    challenges: async () => await deleteOldChallenges(db),
    'used tokens': async () => await deleteUsedTokens(db),
    responses: async () => await deleteOldResponses(db),
    networks: async () => await deleteOldNetworks(db),
    'security events': async () => await deleteOldSecurityEvents(db),
    'failed password attempts': deletion(
      'failed_password_attempts',
      sql`blocked_until < now() - interval '1 day' order by blocked_until`
    ),
    'password change attempts': deletion(
      'password_change_attempts',
      sql`last_attempted_at < now() - interval '1 hour' order by last_attempted_at`
    ),
    'proof attempts': deletion(
      'proof_attempts',
      sql`last_attempted_at < now() - interval '15 minutes' order by last_attempted_at`
    ),
    proofs: deletion('proofs', sql`expires_at < now() order by expires_at`),
    'email reverts': deletion('email_reverts', sql`expires_at < now() order by expires_at`),
    'email changes': deletion('email_changes', sql`requested_at < now() - interval '1 day' order by requested_at`),
    'email change attempts': deletion(
      'email_change_attempts',
      sql`last_attempted_at < now() - interval '1 day' order by last_attempted_at`
    ),
    'code attempts': deletion('code_attempts', sql`day < (now() at time zone 'utc')::date order by day`),
    'wrong codes': deletion('wrong_codes', sql`entered_at < now() - interval '1 day' order by entered_at`),
    'code links': deletion('code_links', sql`expires_at < now() order by expires_at`),
    codes: deletion('codes', sql`expires_at < now() order by expires_at`),
    'deletion links': deletion('deletion_links', sql`expires_at < now() order by expires_at`),
    'password resets': deletion('password_resets', sql`expires_at < now() order by expires_at`)
  })
}
