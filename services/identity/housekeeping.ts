import { sql, type RawBuilder } from 'kysely'
import { deleteInChunks } from '@tandem/database-kit'
import { runPeriodically, runSteps, type Log } from '@tandem/process-kit'
import { deleteOldAttempts } from './attempt-limit.ts'
import { expireUnverifiedAccounts } from './erasures/expiry.ts'
import type { Deps } from './deps.ts'
import { deleteReplacedKeys } from './keys/actions.ts'
import { remindOfDeletions } from './deletion/mails.ts'
import { decideForgottenReferrals } from './referrals/actions.ts'
import type { Db, Tables } from './tables.ts'
import { deleteOldSecurityEvents } from './security-log/actions.ts'
import { endExpiredSessions } from './sessions/actions.ts'
import { deleteOldResponses } from './sessions/refresh.ts'
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

/** The tables whose rows end at `expires_at`. */
const EXPIRING = [
  'refresh_tokens',
  'proofs',
  'email_reverts',
  'codes',
  'code_links',
  'deletion_links',
  'password_resets',
  'passkey_challenges',
  'staff_invitations'
] as const

export async function runHousekeeping (db: Db) {
  const deletion = (table: keyof Tables, which: RawBuilder<unknown>) => async () =>
    await deleteInChunks(db, table, which)
  await runSteps({
    'expired sessions': async () => await endExpiredSessions(db),
    'staff sessions': deletion('staff_sessions', sql`created_at < now() - interval '30 days' order by created_at`),
    // No session lives longer than 180 days, and ids are in time order. Without the inner select, Postgres calls uuidv7
    // for each row. One that has not ended yet waits, because its end is published.
    sessions: deletion(
      'sessions',
      sql`id < (select uuidv7(interval '-181 days')) and ended_at is not null order by id`
    ),
    ...Object.fromEntries(
      EXPIRING.map((table) => [table, deletion(table, sql`expires_at < now() order by expires_at`)])
    ),
    'replaced keys': async () => await deleteReplacedKeys(db),
    'unverified accounts': async () => await expireUnverifiedAccounts(db),
    'store notifications': deletion(
      'store_notifications',
      sql`received_at < now() - interval '90 days' order by received_at`
    ),
    // They are restored from the store, and a pause is over by then.
    'purchases of nobody': deletion(
      'purchases',
      sql`account_id is null and period_end < now() - interval '180 days' order by id`
    ),
    'reports of problems': deletion('issue_reports', sql`created_at < now() - interval '180 days' order by created_at`),
    decisions: deletion(
      'decisions',
      sql`made_at < now() - interval '180 days' and account_id in (select account_id from departures) order by made_at`
    ),
    // Providers' tokens are accepted once within ten minutes; clocks can differ.
    'used tokens': deletion('used_provider_tokens', sql`used_at < now() - interval '15 minutes' order by used_at`),
    responses: async () => await deleteOldResponses(db),
    // As long as the longest lifetime of a session.
    networks: deletion(
      'account_networks',
      sql`last_signed_in_at < now() - interval '180 days' order by last_signed_in_at`
    ),
    'security events': async () => await deleteOldSecurityEvents(db),
    'failed password attempts': deletion(
      'failed_password_attempts',
      sql`blocked_until < now() - interval '1 day' order by blocked_until`
    ),
    attempts: async () => await deleteOldAttempts(db),
    'email changes': deletion('email_changes', sql`requested_at < now() - interval '1 day' order by requested_at`),
    'code attempts': deletion('code_attempts', sql`day < (now() at time zone 'utc')::date order by day`),
    'wrong codes': deletion('wrong_codes', sql`entered_at < now() - interval '1 day' order by entered_at`)
  })
}
