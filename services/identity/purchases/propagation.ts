import { setTimeout as sleep } from 'node:timers/promises'
import { Tier } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findSubscription } from '../accounts/queries.ts'

const MAX_WAIT_MS = 500
const POLL_INTERVAL_MS = 5

/**
 * Waits until FitMatch has consumed the newest subscription of an account, so that the very next swipe passes. It waits
 * at most half a second: the purchase is already committed, and FitMatch consumes the event as soon as it can.
 */
export async function waitUntilConsumed (
  { db, callRpc, clock }: Pick<Deps, 'db' | 'callRpc' | 'clock'>,
  accountId: string
) {
  const subscription = await findSubscription(db, accountId, clock())
  if (!subscription) return
  const expected = subscription.status === 'ACTIVE' ? subscription.currentPeriodEnd.getTime() : undefined
  const deadline = performance.now() + MAX_WAIT_MS
  try {
    for (let leftMs = MAX_WAIT_MS; leftMs > 0; leftMs = deadline - performance.now()) {
      const { subscribedUntil } = await callRpc(Tier, { accountId }, { timeoutMs: Math.ceil(leftMs) })
      if (expected === undefined || (subscribedUntil !== null && Date.parse(String(subscribedUntil)) === expected)) {
        return
      }
      await sleep(POLL_INTERVAL_MS)
    }
  } catch {
    // FitMatch is unavailable. It consumes the event later.
  }
}
