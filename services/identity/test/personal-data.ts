import { randomUUID } from 'node:crypto'
import type { Seed } from '@tandem/account-kit/testing'

/** At least one row of each table with personal data. */
export const seed: Seed = async ({ accountId: account_id, otherId, insert }) => {
  const email = `ana-${randomUUID()}@example.com`
  await insert('accounts', { id: account_id, email, registered_network: '203.0.113.0/24', locale: 'en' })
  await insert('accounts', {
    id: otherId,
    email: `${otherId}@example.com`,
    name: 'Other',
    referral_code: otherId,
    registered_network: '203.0.113.0/24',
    locale: 'en'
  })
  const session = await insert('sessions', { account_id })
  const { digest } = await insert('refresh_tokens', { session_id: session['id'] })
  await insert('refresh_responses', { digest })
  await insert('proofs', { account_id, session_id: session['id'], purpose: 'DELETE', method: 'CODE' })
  await insert('codes', { account_id, purpose: 'VERIFY' })
  await insert('code_links', { account_id, purpose: 'VERIFY' })
  await insert('password_change_attempts', { account_id })
  for (
    const table of [
      'deletion_links',
      'code_attempts',
      'wrong_codes',
      'proof_attempts',
      'password_resets',
      'account_networks',
      'security_events'
    ]
  ) {
    await insert(table, { account_id })
  }
  await insert('provider_links', { account_id, provider: 'PROVIDER_A' })
  await insert('referrals', { account_id: otherId, referrer_id: account_id })
  await insert('referral_rewards', { account_id })
  const purchase = await insert('purchases', {
    account_id,
    store: 'APPLE',
    environment: 'PRODUCTION',
    // What is left of a purchase names a product, not a person.
    store_key: '2000000123456789',
    plan_id: 'premium',
    product_id: 'premium.monthly',
    state: 'ACTIVE'
  })
  await insert('grants', { account_id, reason: 'GIFT' })
  await insert('subscriptions', { account_id, status: 'ACTIVE', purchase_id: purchase['id'] })
  await insert('mail_requests', { email, kind: 'RESET' })
  await insert('issue_reports', { email })
  await insert('email_reverts', { account_id, old_email: 'old@example.com' })
  await insert('email_changes', { account_id, new_email: 'new@example.com' })
  await insert('exports', { id: randomUUID(), account_id, status: 'EXPIRED' })
  await insert('mails', { account_id, subject: 'a', body_text: 'b', body_html: 'c', recipient: email })
  await insert('idempotency_keys', { account_id })
  await insert('daily_quotas', { account_id })
  await insert('failed_messages', { message: account_id })
  await insert('hidden_people', { account_id, is_hidden: true })
  const made_at = new Date('2020-01-01')
  const { id: decision_id } = await insert('decisions', { account_id, actions: '[]', outcome: 'ACTION_TAKEN', made_at })
  for (const table of ['appeals', 'strikes']) await insert(table, { account_id, decision_id })
  await insert('restrictions', { account_id, decision_id, scope: 'POSTING' })
  await insert('decision_applications', { decision_id, service: 'social' })
}
