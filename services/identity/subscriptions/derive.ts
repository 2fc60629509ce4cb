import { publish } from '@tandem/bus-kit'
import { SubscriptionChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { endOf, isLive, purchaseColumns } from './purchase-state.ts'
import type { Db, Tables, Trx } from '../tables.ts'
import { endedSubscriptions } from './metrics.ts'
import { entitlementsOf } from './plans.ts'

export type DeriveDeps = Pick<Deps, 'subscriptions' | 'clock'>

/** What an account has a plan from, and until when. */
interface Source {
  planId: string
  start: Date
  end: Date
  isLive: boolean
  /** Of one that has ended: whether it was taken back before its time. */
  isTakenBack: boolean
  purchaseId: string | null
  grantId: string | null
}

/**
 * Derives the subscription of an account from its purchases and grants: what lasts longest counts. It publishes an event
 * if that changes anything. The caller holds the lock of the account.
 */
export async function deriveSubscription (trx: Trx, deps: DeriveDeps, accountId: string) {
  const { plans } = deps.subscriptions
  const now = deps.clock()
  const before = await trx.selectFrom('subscriptions').where('account_id', '=', accountId).select(subscriptionColumns)
    .executeTakeFirst()
  const source = await findSource(trx, deps, accountId)
  if (!source && !before) return
  const after: Derived = source
    ? {
      plan_id: source.planId,
      status: source.isLive ? 'ACTIVE' : source.isTakenBack ? 'CANCELED' : 'EXPIRED',
      current_period_start: source.start,
      current_period_end: source.end,
      entitlements: source.isLive ? entitlementsOf(plans, source.planId) : [],
      purchase_id: source.purchaseId,
      grant_id: source.grantId
    }
    : withoutSource(before!, now)
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
  'grant_id'
] as const
interface Derived
  extends Pick<Tables['subscriptions'], 'plan_id' | 'status' | 'current_period_start' | 'current_period_end'>
{
  entitlements: string[]
  purchase_id: string | null
  grant_id: string | null
}

/** The purchase was moved away: what is left is that it has ended. */
const withoutSource = (before: Derived, now: Date): Derived => ({
  ...before,
  ...(before.status === 'ACTIVE' && { status: 'CANCELED', current_period_end: now }),
  entitlements: [],
  purchase_id: null,
  grant_id: null
})

const isSameForOthers = (one: Derived, other: Derived) =>
  one.plan_id === other.plan_id && one.status === other.status &&
  one.current_period_start.getTime() === other.current_period_start.getTime() &&
  one.current_period_end.getTime() === other.current_period_end.getTime() &&
  one.entitlements.join() === other.entitlements.join()

const isSame = (one: Derived, other: Derived) =>
  isSameForOthers(one, other) && one.purchase_id === other.purchase_id && one.grant_id === other.grant_id

/** What counts for an account: of what is live the one that lasts longest, else the one that ended last. */
async function findSource (trx: Trx, deps: DeriveDeps, accountId: string) {
  const sources = [...await listPurchaseSources(trx, deps, accountId), ...await listGrantSources(trx, deps, accountId)]
  return sources.toSorted((one, other) =>
    Number(other.isLive) - Number(one.isLive) || other.end.getTime() - one.end.getTime()
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
  const { subscriptions: { slackMs }, clock } = deps
  const purchases = await listCountedPurchases(trx, deps, accountId)
  return purchases.filter(({ state }) => state !== 'PENDING').map((purchase) => ({
    planId: purchase.plan_id,
    start: purchase.period_start,
    end: endOf(purchase, slackMs),
    isLive: isLive(purchase, slackMs, clock()),
    isTakenBack: purchase.state === 'REVOKED',
    purchaseId: purchase.id,
    grantId: null
  }))
}

/** Grants follow each other: the one that runs lasts until the last one ends. */
async function listGrantSources (trx: Trx, { clock }: DeriveDeps, accountId: string): Promise<Source[]> {
  const now = clock()
  const grants = await trx.selectFrom('grants').where('account_id', '=', accountId)
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', where.ref('starts_at'))]))
    .select(['id', 'plan_id as planId', 'starts_at as start', 'ends_at', 'ended_at'])
    .orderBy('ends_at', 'desc').limit(MAX_PURCHASES).execute()
  const lastEnd = grants.find(({ ended_at }) => ended_at === null)?.ends_at
  return grants.map(({ id, planId, start, ends_at, ended_at }) => {
    const isRunning = ended_at === null && start <= now && ends_at > now
    return {
      planId,
      start,
      end: isRunning ? lastEnd ?? ends_at : ended_at ?? ends_at,
      isLive: isRunning,
      isTakenBack: ended_at !== null,
      purchaseId: null,
      grantId: id
    }
  })
}
