import { sql, type SqlBool } from 'kysely'
import { readAccountId } from '../accounts/queries.ts'
import { UserNotFound } from '../errors.ts'
import { endOf, purchaseColumns, stateAt } from '../subscriptions/purchase-state.ts'
import { describeSubscription } from '../subscriptions/queries.ts'
import { listCountedPurchases, type DeriveDeps } from '../subscriptions/derive.ts'
import type { Db } from '../tables.ts'

type ReadDeps = DeriveDeps & { db: Db }

/**
 * What the subscription of an account is derived from: every purchase with what its store said and when, every grant, and
 * which of them counts. @throws UserNotFound
 */
export async function readDerivation ({ db, ...deps }: ReadDeps, accountId: string) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).where('expired_at', 'is', null)
    .select('uses_sandbox as usesSandbox').executeTakeFirst()
  if (!account) throw new UserNotFound()
  const { slackMs } = deps.subscriptions
  const now = deps.clock()
  const row = await db.selectFrom('subscriptions').where('account_id', '=', accountId)
    .select(['purchase_id', 'grant_id']).executeTakeFirst()
  // One that has moved to another account explains what this one has lost.
  const purchases = await db.selectFrom('purchases')
    .where((where) => where.or([where('account_id', '=', accountId), where('id', '=', row?.purchase_id ?? null)]))
    .select(purchaseColumns)
    .orderBy('period_end', 'desc').limit(MAX_SHOWN).execute()
  const counted = await listCountedPurchases(db, deps, accountId)
  const grants = await db.selectFrom('grants').where('grants.account_id', '=', accountId)
    .leftJoin('staff', (join) => join.on(sql<SqlBool>`staff.id::text = grants.given_by`))
    .select([
      'grants.id',
      'plan_id as planId',
      'reason',
      (eb) => eb.fn.coalesce('staff.email', 'given_by').as('givenBy'),
      'starts_at as startsAt',
      'ends_at as endsAt',
      'ended_at as endedAt'
    ])
    .orderBy('starts_at', 'desc').limit(MAX_SHOWN).execute()
  return {
    ...account,
    subscription: await describeSubscription(db, deps, accountId),
    purchases: purchases.map((purchase) => ({
      id: purchase.id,
      store: purchase.store,
      environment: purchase.environment,
      productId: purchase.product_id,
      planId: purchase.plan_id,
      saidState: purchase.state,
      state: stateAt(purchase, slackMs, now),
      willRenew: purchase.will_renew,
      isTrial: purchase.is_trial,
      isFamilyShared: purchase.is_family_shared,
      isReplaced: purchase.is_replaced,
      isMoved: purchase.account_id !== accountId,
      periodStart: purchase.period_start,
      periodEnd: purchase.period_end,
      countsUntil: endOf(purchase, slackMs),
      knownAt: purchase.known_at,
      answeredAt: purchase.checked_at,
      asksAt: purchase.check_at,
      isAcknowledged: !purchase.needs_acknowledgement,
      moves: purchase.moved_at.length,
      isChosen: purchase.id === row?.purchase_id && counted.some(({ id }) => id === purchase.id)
    })),
    grants: grants.map((grant) => ({ ...grant, isChosen: grant.id === row?.grant_id }))
  }
}

const MAX_SHOWN = 50

/** The same as a table. @throws UserNotFound */
export async function listSubscriptionOf (deps: ReadDeps, email: string) {
  const { purchases, grants } = await readDerivation(deps, await readAccountId(deps.db, { email }))
  return [
    ...purchases.map(({ store, environment, productId, planId, state, countsUntil, answeredAt, asksAt, isChosen }) => ({
      from: environment === 'SANDBOX' ? `${store} (sandbox)` : store,
      product: productId,
      planId,
      state,
      until: countsUntil,
      answeredAt,
      asksAt,
      counts: isChosen
    })),
    ...grants.map(({ reason, planId, endsAt, endedAt, isChosen }) => ({
      from: reason,
      product: '',
      planId,
      state: endedAt ? 'TAKEN' : 'GRANTED',
      until: endedAt ?? endsAt,
      answeredAt: null,
      asksAt: null,
      counts: isChosen
    }))
  ]
}
