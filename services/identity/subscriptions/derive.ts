import type { Selectable } from 'kysely'
import { Counter } from 'prom-client'
import { publish } from '@tandem/bus-kit'
import { SubscriptionChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { endOf, isLive, purchaseColumns } from './purchase-state.ts'
import type { Db, Tables, Trx } from '../tables.ts'
import { entitlementsOf } from './plans.ts'

/** What ended, so that the churn of a day is its increase. */
const endedSubscriptions = new Counter({
  name: 'identity_subscriptions_ended_total',
  help: 'Subscriptions that ended: EXPIRED, or CANCELED by a refund or an operator',
  labelNames: ['status'] as const
})
for (const status of ['EXPIRED', 'CANCELED']) endedSubscriptions.inc({ status }, 0)

export type DeriveDeps = Pick<Deps, 'subscriptions' | 'clock'>

/** What an account has a plan from, and until when. */
interface Source extends Omit<Derived, 'status' | 'next_grant_at'> {
  isLive: boolean
  /** Of one that has ended: whether it was taken back before its time. */
  isTakenBack: boolean
}

/**
 * Derives the subscription of an account from its purchases and grants: of those that unlock most, the one that lasts
 * longest counts. It publishes an event if that changes anything. The caller holds the lock of the account.
 */
export async function deriveSubscription (trx: Trx, deps: DeriveDeps, accountId: string) {
  const now = deps.clock()
  const before = await trx.selectFrom('subscriptions').where('account_id', '=', accountId).select(subscriptionColumns)
    .executeTakeFirst()
  const source = await findSource(trx, deps, accountId)
  if (!source && !before) return
  const next_grant_at = await findNextGrantStart(trx, accountId, now)
  const after: Derived = { ...source ? toColumns(source) : withoutSource(before!, now), next_grant_at }
  if (before && isSame(before, after)) return

  await trx.insertInto('subscriptions').values({ account_id: accountId, ...after })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(after))
    .execute()
  if (before && isSameForOthers(before, after)) return
  if (before?.status === 'ACTIVE' && after.status !== 'ACTIVE') endedSubscriptions.inc({ status: after.status })
  await publish(trx, SubscriptionChanged, accountId, {
    accountId,
    planId: after.plan_id,
    status: after.status,
    currentPeriodStart: after.current_period_start.toISOString(),
    currentPeriodEnd: after.current_period_end.toISOString(),
    entitlements: after.entitlements
  })
}

const subscriptionColumns = [
  'plan_id',
  'status',
  'current_period_start',
  'current_period_end',
  'entitlements',
  'purchase_id',
  'grant_id',
  'next_grant_at'
] as const
type Derived = Pick<Selectable<Tables['subscriptions']>, typeof subscriptionColumns[number]>

const toColumns = ({ isLive, isTakenBack, entitlements, ...source }: Source) => ({
  ...source,
  status: isLive ? 'ACTIVE' as const : isTakenBack ? 'CANCELED' as const : 'EXPIRED' as const,
  entitlements: isLive ? entitlements : []
})

/** The purchase was moved away: what is left is that it has ended, and from which store it was. */
const withoutSource = (before: Derived, now: Date) => ({
  ...before,
  ...(before.status === 'ACTIVE' && { status: 'CANCELED' as const, current_period_end: now }),
  entitlements: [],
  grant_id: null
})

const isSameForOthers = (one: Derived, other: Derived) =>
  one.plan_id === other.plan_id && one.status === other.status &&
  one.current_period_start.getTime() === other.current_period_start.getTime() &&
  one.current_period_end.getTime() === other.current_period_end.getTime() &&
  one.entitlements.join() === other.entitlements.join()

const isSame = (one: Derived, other: Derived) =>
  isSameForOthers(one, other) && one.purchase_id === other.purchase_id && one.grant_id === other.grant_id &&
  one.next_grant_at?.getTime() === other.next_grant_at?.getTime()

/** What counts for an account: of what is live the one that unlocks most and lasts longest, else the one that ended last. */
async function findSource (trx: Trx, deps: DeriveDeps, accountId: string) {
  const sources = [...await listPurchaseSources(trx, deps, accountId), ...await listGrantSources(trx, deps, accountId)]
  return sources.toSorted((one, other) =>
    Number(other.isLive) - Number(one.isLive) ||
    (one.isLive ? other.entitlements.length - one.entitlements.length : 0) ||
    other.current_period_end.getTime() - one.current_period_end.getTime()
  )[0]
}

/** The purchases that count for an account: not those that were upgraded, and of a sandbox only if it uses one. */
export async function listCountedPurchases (
  db: Db,
  { subscriptions: { sandbox, familySharing } }: Pick<DeriveDeps, 'subscriptions'>,
  accountId: string
) {
  const { uses_sandbox: usesSandbox } = await db.selectFrom('accounts').where('id', '=', accountId)
    .select('uses_sandbox').executeTakeFirstOrThrow()
  const countsSandbox = sandbox === 'all' || (sandbox === 'marked' && usesSandbox)
  return await db.selectFrom('purchases').where('account_id', '=', accountId).where('is_replaced', '=', false)
    .$if(!countsSandbox, (query) => query.where('environment', '=', 'PRODUCTION'))
    .$if(!familySharing, (query) => query.where('is_family_shared', '=', false))
    .select(purchaseColumns)
    .orderBy('period_end', 'desc')
    .limit(MAX_PURCHASES)
    .execute()
}

// More than a person can buy: it bounds the work.
const MAX_PURCHASES = 100

async function listPurchaseSources (trx: Trx, deps: DeriveDeps, accountId: string): Promise<Source[]> {
  const { subscriptions: { slackMs, plans }, clock } = deps
  const purchases = await listCountedPurchases(trx, deps, accountId)
  return purchases.filter(({ state }) => state !== 'PENDING').map((purchase) => ({
    plan_id: purchase.plan_id,
    entitlements: entitlementsOf(plans, purchase.plan_id),
    current_period_start: purchase.period_start,
    current_period_end: endOf(purchase, slackMs),
    isLive: isLive(purchase, slackMs, clock()),
    isTakenBack: purchase.state === 'REVOKED',
    purchase_id: purchase.id,
    grant_id: null
  }))
}

async function listGrantSources (
  trx: Trx,
  { subscriptions: { plans }, clock }: DeriveDeps,
  accountId: string
): Promise<Source[]> {
  const now = clock()
  const grants = await trx.selectFrom('grants').where('account_id', '=', accountId)
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', where.ref('starts_at'))]))
    .select(['id', 'plan_id', 'starts_at', 'ends_at', 'ended_at'])
    .orderBy('ends_at', 'desc').limit(MAX_PURCHASES).execute()
  return grants.map((grant) => {
    const isLive = grant.ended_at === null && grant.starts_at <= now && grant.ends_at > now
    return {
      plan_id: grant.plan_id,
      entitlements: entitlementsOf(plans, grant.plan_id),
      current_period_start: grant.starts_at,
      current_period_end: isLive ? endOfGrants(grant, grants) : grant.ended_at ?? grant.ends_at,
      isLive,
      isTakenBack: grant.ended_at !== null,
      purchase_id: null,
      grant_id: grant.id
    }
  })
}

async function findNextGrantStart (trx: Trx, accountId: string, now: Date) {
  const next = await trx.selectFrom('grants').where('account_id', '=', accountId).where('ended_at', 'is', null)
    .where('starts_at', '>', now).select(({ fn }) => fn.min('starts_at').as('at')).executeTakeFirstOrThrow()
  return next.at
}

type Grant = Pick<Selectable<Tables['grants']>, 'plan_id' | 'starts_at' | 'ends_at' | 'ended_at'>

/** Until when a grant lasts with those of the same plan that follow it. */
function endOfGrants (grant: Grant, grants: Grant[]) {
  return grants.filter(({ plan_id, ended_at }) => plan_id === grant.plan_id && ended_at === null)
    .toSorted((one, other) => one.starts_at.getTime() - other.starts_at.getTime())
    .reduce((end, next) => next.starts_at <= end && next.ends_at > end ? next.ends_at : end, grant.ends_at)
}
