import { sql, type SqlBool } from 'kysely'
import {
  databaseTables,
  inColumns,
  kitTables,
  mailTables,
  notPersonal,
  personal,
  type PersonalData
} from '@tandem/account-kit'
import { operatorTables } from '@tandem/operator-kit'
import { disownPurchases } from './purchases/disown.ts'
import { eraseAccount, receiptKeyOf } from './erasures/stub.ts'
import type { Tables } from './tables.ts'

const secret = { not: 'It is a digest or a token.' }
const secretOfAccount = personal<Tables>({ rowsOf: inColumns('account_id'), exported: secret })
const countOfAccount = personal<Tables>({
  rowsOf: inColumns('account_id'),
  exported: { not: 'It counts towards a limit.' }
})

const ofSession = (accountId: string) =>
  sql<SqlBool>`session_id in (select id from sessions where account_id = ${accountId}::uuid)`
const ofAddress = (accountId: string) =>
  sql<SqlBool>`email = (select email from accounts where id = ${accountId}::uuid)`

/** Decisions can be appealed, and matter for a new account of the same person, for 180 days. */
const ofDecisions = (column: string) => ({
  keeps: {
    rows: () =>
      sql<SqlBool>`${sql.ref(column)} in (
      select kept.id from decisions kept where kept.made_at > now() - interval '180 days')`,
    why: 'Decisions can be appealed.',
    until: '180 days after the decision'
  }
})

/** What this service holds of people, in the order in which it is erased. */
export const personalData: PersonalData<Tables> = {
  refresh_responses: personal({
    rowsOf: (accountId) => sql<SqlBool>`digest in (select digest from refresh_tokens where ${ofSession(accountId)})`,
    exported: secret
  }),
  refresh_tokens: personal({ rowsOf: ofSession, exported: secret }),
  proofs: secretOfAccount,
  sessions: personal({
    rowsOf: inColumns('account_id'),
    exported: [
      'id',
      'device_info',
      'device_name',
      'platform',
      'app_version',
      'ip_address',
      'created_at',
      'last_used_at',
      'ended_at'
    ]
  }),
  appeals: personal({
    rowsOf: inColumns('account_id'),
    ...ofDecisions('decision_id'),
    exported: ['text', 'status', 'answer', 'created_at']
  }),
  decision_applications: personal({
    rowsOf: (accountId) =>
      sql<SqlBool>`decision_id in (select id from decisions where account_id = ${accountId}::uuid)`,
    ...ofDecisions('decision_id'),
    exported: { not: 'It is about services.' }
  }),
  strikes: personal({
    rowsOf: inColumns('account_id'),
    ...ofDecisions('decision_id'),
    exported: ['created_at', 'removed_at']
  }),
  restrictions: personal({
    rowsOf: inColumns('account_id'),
    ...ofDecisions('decision_id'),
    exported: ['scope', 'until', 'lifted_at']
  }),
  decisions: personal({
    rowsOf: inColumns('account_id'),
    ...ofDecisions('id'),
    exported: ['actions', 'reason', 'statement', 'excerpt', 'is_automated', 'made_at']
  }),
  code_links: secretOfAccount,
  codes: secretOfAccount,
  wrong_codes: countOfAccount,
  code_attempts: countOfAccount,
  deletion_links: secretOfAccount,
  password_resets: secretOfAccount,
  password_change_attempts: countOfAccount,
  proof_attempts: countOfAccount,
  provider_links: personal({ rowsOf: inColumns('account_id'), exported: ['provider', 'created_at'] }),
  referrals: personal({ rowsOf: inColumns('account_id', 'referrer_id'), exported: ['created_at', 'is_counted'] }),
  referral_rewards: personal({ rowsOf: inColumns('account_id'), exported: ['is_referrer', 'days', 'granted_at'] }),
  subscriptions: personal({
    rowsOf: inColumns('account_id'),
    exported: ['plan_id', 'status', 'current_period_start', 'current_period_end']
  }),
  grants: personal({
    rowsOf: inColumns('account_id'),
    exported: ['plan_id', 'reason', 'starts_at', 'ends_at', 'ended_at']
  }),
  purchases: personal({
    rowsOf: inColumns('account_id'),
    erase: disownPurchases,
    exported: ['store', 'product_id', 'plan_id', 'state', 'will_renew', 'period_start', 'period_end', 'bought_at']
  }),
  account_networks: personal({ rowsOf: inColumns('account_id'), exported: ['network', 'last_signed_in_at'] }),
  security_events: personal({
    rowsOf: inColumns('account_id'),
    exported: ['kind', 'network', 'detail', 'created_at']
  }),
  mail_requests: personal({ rowsOf: ofAddress, exported: { not: 'They are processed within seconds.' } }),
  issue_reports: personal({ rowsOf: ofAddress, exported: ['description', 'created_at'] }),
  mails: personal({
    // The receipt is sent after everything else is erased. The sweep after an hour deletes it.
    rowsOf: (accountId) =>
      sql<SqlBool>`(account_id = ${accountId}::uuid
        and not (dedupe_key = ${receiptKeyOf(accountId)} and created_at > now() - interval '1 hour'))`,
    exported: mailTables.mails.exported
  }),
  email_changes: personal({ rowsOf: inColumns('account_id'), exported: ['new_email', 'requested_at'] }),
  email_reverts: personal({ rowsOf: inColumns('account_id'), exported: ['old_email', 'created_at', 'expires_at'] }),
  email_change_attempts: countOfAccount,
  exports: personal({
    rowsOf: inColumns('account_id'),
    files: sql`array['exports/' || id || '/']`,
    exported: { not: 'It is this copy.' }
  }),
  accounts: personal({
    rowsOf: (accountId) => sql<SqlBool>`(id = ${accountId}::uuid and registered_network <> '')`,
    erase: eraseAccount,
    exported: ['email', 'name', 'image', 'locale', 'role', 'email_verified_at', 'referral_code', 'created_at']
  }),
  erasures: notPersonal('They are the receipts: an id, times and a state, kept for a year.'),
  erasure_confirmations: notPersonal('They hold counts.'),
  provider_revocations: notPersonal(
    'It holds an encrypted token until a provider has revoked it, for five days at most.'
  ),
  remembered: notPersonal('It holds keyed digests, which this service alone can compute, for as long as a ban lasts.'),
  store_notifications: notPersonal(
    'They hold ids of the stores for 90 days, and until they are handled what was sold, sealed.'
  ),
  used_provider_tokens: notPersonal('It holds digests, for 15 minutes.'),
  failed_password_attempts: notPersonal('It holds keyed digests, for a day.'),
  signing_keys: notPersonal('They belong to the service.'),
  ...databaseTables,
  staff: notPersonal('Operators are no accounts of the app.'),
  staff_invitations: notPersonal('It holds digests for operators.'),
  passkeys: notPersonal('It holds public keys of operators.'),
  passkey_challenges: notPersonal('It holds random texts for a few minutes.'),
  staff_sessions: notPersonal('They are sessions of operators.'),
  ...operatorTables,
  ...kitTables
}
