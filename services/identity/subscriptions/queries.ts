import { findSubscription } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import type { Db, PurchaseState } from '../tables.ts'
import { listCountedPurchases, type DeriveDeps } from './derive.ts'
import { purchaseColumns, stateAt, type Purchase } from './purchase-state.ts'

/** The subscription of an account, with what its store says. Null if there never was one. */
export async function describeSubscription (
  db: Db,
  deps: Pick<Deps, 'subscriptions' | 'clock'>,
  accountId: string
) {
  const { clock, subscriptions: { slackMs } } = deps
  const now = clock()
  const row = await db.selectFrom('subscriptions').where('account_id', '=', accountId)
    .select(['purchase_id', 'grant_id', 'entitlements']).executeTakeFirst()
  const subscription = await findSubscription(db, accountId, now)
  const purchase = row?.purchase_id ? await findPurchase(db, row.purchase_id) : undefined
  // A payment that is on its way is shown only while there is nothing else.
  const pending = subscription?.status === 'ACTIVE' ? undefined : await findPending(db, deps, accountId)
  if (pending) return describePending(pending)
  if (!subscription || !row) return null
  const isActive = subscription.status === 'ACTIVE'
  // It may go on in another account.
  const isTakenBack = subscription.status === 'CANCELED'
  return {
    ...subscription,
    entitlements: isActive ? row.entitlements : [],
    ...(purchase ? describeStore(purchase, isTakenBack ? 'REVOKED' : stateAt(purchase, slackMs, now)) : {
      store: 'OPERATOR' as const,
      state: granted[subscription.status],
      willRenew: false,
      isSandbox: false,
      isFamilyShared: false,
      // A store may go on to bill meanwhile.
      manageUrl: (await findBilledPurchase(db, accountId))?.manageUrl ?? null
    })
  }
}

const granted = { ACTIVE: 'ACTIVE', EXPIRED: 'EXPIRED', CANCELED: 'REVOKED' } as const

const findPurchase = async (db: Db, id: string) =>
  await db.selectFrom('purchases').where('id', '=', id).select(purchaseColumns).executeTakeFirst()

async function findPending (db: Db, deps: Pick<DeriveDeps, 'subscriptions'>, accountId: string) {
  return (await listCountedPurchases(db, deps, accountId)).find(({ state }) => state === 'PENDING')
}

const describeStore = (purchase: Purchase, state: PurchaseState) => ({
  store: purchase.store,
  state,
  willRenew: purchase.will_renew && ['ACTIVE', 'GRACE', 'HOLD', 'PAUSED'].includes(state),
  isSandbox: purchase.environment === 'SANDBOX',
  isFamilyShared: purchase.is_family_shared,
  manageUrl: purchase.manage_url
})

const describePending = (purchase: Purchase) => ({
  id: purchase.id,
  planId: purchase.plan_id,
  status: 'EXPIRED' as const,
  currentPeriodStart: purchase.period_start,
  currentPeriodEnd: purchase.period_end,
  entitlements: [],
  ...describeStore(purchase, 'PENDING')
})

/** What the app gives to the store instead of the account's id. */
export async function findAccountToken (db: Db, accountId: string) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).select('account_token')
    .executeTakeFirst()
  return account?.account_token ?? undefined
}

/** Where a store bills an account, if one does. */
export async function findBilledPurchase (db: Db, accountId: string) {
  return await db.selectFrom('purchases').where('account_id', '=', accountId).where('will_renew', '=', true)
    .where('is_replaced', '=', false).where('state', 'in', ['ACTIVE', 'GRACE', 'HOLD', 'PAUSED'])
    .select(['store', 'manage_url as manageUrl']).orderBy('period_end', 'desc').executeTakeFirst()
}
