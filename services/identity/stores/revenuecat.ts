import { timingSafeEqual, createHash } from 'node:crypto'
import { Unavailable } from '@tandem/process-kit'
import { APPLE_MANAGE_URL } from './apple.ts'
import { isPaid } from '../subscriptions/purchase-state.ts'
import { PLAY_MANAGE_URL } from './google.ts'
import { STORE_TIMEOUT_MS, type FindPlan, type Reading } from './reading.ts'

export interface RevenueCatSettings {
  secretKey: string
  /** The `Authorization` that we chose for the webhook. */
  webhookAuthorization: string
  apiUrl: string
}

/** RevenueCat, for teams that bill through it. A person is known there by their account token. */
export interface RevenueCat {
  isOwnWebhook(authorization: string | undefined): boolean
  /** Of each environment the paid subscription that unlocks most, else what ended last. @throws Unavailable */
  ask(accountToken: string): Promise<Reading[]>
}

export const REVENUECAT_API_URL = 'https://api.revenuecat.com'

interface Subscription {
  purchase_date?: string
  expires_date?: string | null
  grace_period_expires_date?: string | null
  billing_issues_detected_at?: string | null
  unsubscribe_detected_at?: string | null
  refunded_at?: string | null
  auto_resume_date?: string | null
  is_sandbox?: boolean
  ownership_type?: string
  period_type?: string
  store?: string
  store_transaction_id?: string
}

export function createRevenueCat (
  { secretKey, webhookAuthorization, apiUrl }: RevenueCatSettings,
  findPlan: FindPlan,
  now: () => Date
): RevenueCat {
  const digest = (text: string) => createHash('sha256').update(text).digest()

  return {
    isOwnWebhook: (authorization = '') => timingSafeEqual(digest(authorization), digest(webhookAuthorization)),
    async ask (accountToken) {
      const knownAt = now()
      const response = await fetch(`${apiUrl}/v1/subscribers/${encodeURIComponent(accountToken)}`, {
        redirect: 'error',
        headers: { authorization: `Bearer ${secretKey}` },
        signal: AbortSignal.timeout(STORE_TIMEOUT_MS)
      }).catch(() => {
        throw new Unavailable()
      })
      if (!response.ok) {
        await response.body?.cancel()
        throw new Unavailable()
      }
      const { subscriber } = await response.json().catch(() => {
        throw new Unavailable()
      }) as { subscriber?: { subscriptions?: Record<string, Subscription> } }
      // An answer without the person says nothing of them, and must not end what they have.
      if (!subscriber) throw new Unavailable()
      const readings = Object.entries(subscriber.subscriptions ?? {}).flatMap(([product, subscription]) => {
        const plan = findPlan('REVENUECAT', product)
        if (!plan) return []
        const { planId, entitlements } = plan
        const known = { key: accountToken, accountToken, productId: product, planId, knownAt }
        return [{ reading: toReading(subscription, known), unlocks: entitlements.length }]
      })
      // One that was refunded may end later than one that is paid.
      const best = readings.toSorted((one, other) =>
        Number(isPaid(other.reading.state)) - Number(isPaid(one.reading.state)) ||
        (isPaid(one.reading.state) ? other.unlocks - one.unlocks : 0) ||
        endOf(other.reading).getTime() - endOf(one.reading).getTime()
      ).map(({ reading }) => reading)
      return best.filter(({ environment }, index) =>
        best.findIndex((each) => each.environment === environment) === index
      )
    }
  }
}

const endOf = ({ graceEnd, periodEnd }: Reading) => graceEnd ?? periodEnd

const manageUrls: Record<string, string> = { app_store: APPLE_MANAGE_URL, play_store: PLAY_MANAGE_URL }

function toReading (
  subscription: Subscription,
  known: Pick<Reading, 'key' | 'accountToken' | 'productId' | 'planId' | 'knownAt'>
): Reading {
  const { purchase_date: start, expires_date: end, grace_period_expires_date: grace, refunded_at: refunded } =
    subscription
  const periodStart = start ? new Date(start) : known.knownAt
  const periodEnd = end ? new Date(end) : periodStart
  const graceEnd = grace ? new Date(grace) : null
  return {
    ...known,
    store: 'REVENUECAT',
    environment: subscription.is_sandbox ? 'SANDBOX' : 'PRODUCTION',
    orderId: subscription.store_transaction_id ?? null,
    state: stateOf(subscription, { periodEnd, graceEnd, knownAt: known.knownAt }),
    willRenew: !subscription.unsubscribe_detected_at && !refunded,
    isTrial: subscription.period_type === 'trial',
    isFamilyShared: subscription.ownership_type === 'FAMILY_SHARED',
    periodStart,
    periodEnd,
    graceEnd,
    revokedAt: refunded ? new Date(refunded) : null,
    manageUrl: manageUrls[subscription.store ?? ''] ?? null,
    replaces: [],
    needsAcknowledgement: false,
    isComplete: true
  }
}

// As long as other renewals count until their store has said something.
const LATE_RENEWAL_MS = 24 * 60 * 60 * 1_000

function stateOf (
  {
    refunded_at: refunded,
    billing_issues_detected_at: billingIssue,
    unsubscribe_detected_at: unsubscribed,
    auto_resume_date: resumes
  }: Subscription,
  { periodEnd, graceEnd, knownAt }: Pick<Reading, 'periodEnd' | 'graceEnd' | 'knownAt'>
): Reading['state'] {
  if (refunded) return 'REVOKED'
  if (periodEnd > knownAt) return 'ACTIVE'
  if (graceEnd && graceEnd > knownAt) return 'GRACE'
  if (resumes) return 'PAUSED'
  if (billingIssue) return 'HOLD'
  // RevenueCat learns of a renewal from the store, some time after it.
  return !unsubscribed && knownAt.getTime() - periodEnd.getTime() < LATE_RENEWAL_MS ? 'ACTIVE' : 'EXPIRED'
}
