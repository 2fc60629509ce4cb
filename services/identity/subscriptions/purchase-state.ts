import type { Selectable } from 'kysely'
import type { SubscriptionSettings } from './settings.ts'
import type { PurchaseState, Tables } from '../tables.ts'

/** Named, because `*` breaks prepared statements as soon as a migration adds a column. */
export const purchaseColumns = [
  'id',
  'store',
  'environment',
  'store_key',
  'encrypted_token',
  'account_id',
  'plan_id',
  'product_id',
  'state',
  'will_renew',
  'is_trial',
  'is_family_shared',
  'period_start',
  'period_end',
  'grace_end',
  'revoked_at',
  'voided_order',
  'order_digest',
  'manage_url',
  'replaces',
  'is_replaced',
  'known_at',
  'moved_at',
  'check_at',
  'checked_at',
  'needs_acknowledgement',
  'bought_at'
] as const

export type Purchase = Pick<Selectable<Tables['purchases']>, typeof purchaseColumns[number]>

type Timing = Pick<Purchase, 'store' | 'state' | 'will_renew' | 'period_end' | 'grace_end' | 'revoked_at' | 'known_at'>

/** When a purchase stops to unlock anything, or when it has stopped. */
export function endOf (purchase: Timing, slackMs: SubscriptionSettings['slackMs']): Date {
  const { store, state, will_renew, period_end, grace_end, revoked_at, known_at } = purchase
  if (state === 'REVOKED') return revoked_at ?? known_at
  if (state === 'GRACE') return grace_end ?? period_end
  // It goes on until the store has said whether it was renewed: nobody may lose for a moment what they have paid for.
  return state === 'ACTIVE' && will_renew ? new Date(period_end.getTime() + slackMs[store]) : period_end
}

/** Whether it unlocks something until it ends. */
export const isPaid = (state: PurchaseState) => state === 'ACTIVE' || state === 'GRACE'

export const isLive = (purchase: Timing, slackMs: SubscriptionSettings['slackMs'], now: Date) =>
  isPaid(purchase.state) && endOf(purchase, slackMs) > now

/** The state that people are shown: what the store said, and what has ended since. */
export function stateAt (purchase: Timing, slackMs: SubscriptionSettings['slackMs'], now: Date): PurchaseState {
  if (!isPaid(purchase.state) || isLive(purchase, slackMs, now)) return purchase.state
  return purchase.state === 'GRACE' ? 'HOLD' : 'EXPIRED'
}

const HOUR_MS = 60 * 60 * 1_000
const WATCHED_MS = 48 * HOUR_MS
// Google pauses for up to three months. Both stores try to be paid for up to two.
const MAX_WATCHED_MS = 100 * 24 * HOUR_MS

/**
 * When the store should be asked next: every hour while something can change at any time, so that a lost notification
 * costs an hour; else two days before the end. Null once nothing changes any more.
 */
export function nextCheck ({ state, period_end }: Pick<Purchase, 'state' | 'period_end'>, now: Date): Date | null {
  const [end, time] = [period_end.getTime(), now.getTime()]
  const inAnHour = time + HOUR_MS
  switch (state) {
    case 'REVOKED':
      return null
    case 'GRACE':
    case 'HOLD':
    case 'PAUSED':
    case 'PENDING':
      return time < end + MAX_WATCHED_MS ? new Date(inAnHour) : null
  }
  if (time < end - WATCHED_MS) return new Date(end - WATCHED_MS)
  if (time > end + WATCHED_MS) return null
  return new Date(end > time ? Math.min(inAnHour, end) : inAnHour)
}
