import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { SubscriptionChanged } from '@tandem/contracts'
import { workLocked } from '@tandem/database-kit'
import type { Db, Trx } from '../tables.ts'

const BATCH_SIZE = 100

/** Starts a subscription now, for `days`. It replaces the current one. */
export async function startSubscription (
  trx: Trx,
  accountId: string,
  { planId, days }: { planId: string, days: number }
) {
  const terms = {
    plan_id: planId,
    status: 'ACTIVE' as const,
    current_period_start: sql<Date>`now()`,
    current_period_end: sql<Date>`now() + make_interval(days => ${days}::int)`
  }
  await trx.insertInto('subscriptions').values({ account_id: accountId, ...terms })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(terms))
    .execute()
  await publishChange(trx, accountId)
}

const REWARD_PLAN = 'premium'

/** Adds days at the end of a running subscription, or starts one. The caller holds the lock of the account. */
export async function grantPremium (trx: Trx, accountId: string, { days }: { days: number }) {
  const extended = await trx.updateTable('subscriptions')
    .set({ current_period_end: sql`current_period_end + make_interval(days => ${days}::int)` })
    .where('account_id', '=', accountId)
    .where('status', '=', 'ACTIVE').where('current_period_end', '>', sql<Date>`now()`)
    .returning('id')
    .executeTakeFirst()
  if (extended) await publishChange(trx, accountId)
  else await startSubscription(trx, accountId, { planId: REWARD_PLAN, days })
}

/** Ends a subscription early. @returns whether there was an active one */
export async function cancelSubscription (trx: Trx, accountId: string) {
  const canceled = await trx.updateTable('subscriptions').set({ status: 'CANCELED', current_period_end: sql`now()` })
    .where('account_id', '=', accountId)
    .where('status', '=', 'ACTIVE')
    .returning('id')
    .executeTakeFirst()
  if (canceled) await publishChange(trx, accountId)
  return canceled !== undefined
}

/** Marks the subscriptions whose period has ended. */
export async function expireSubscriptions (db: Db) {
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('subscriptions').select(['id', 'account_id as accountId'])
        .where('status', '=', 'ACTIVE')
        .where('current_period_end', '<', sql<Date>`now()`)
        .where('id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .limit(BATCH_SIZE)
        .forUpdate().skipLocked()
        .execute(),
    async work (trx, expired) {
      await trx.updateTable('subscriptions').set({ status: 'EXPIRED' }).where('id', 'in', expired.map(({ id }) => id))
        .execute()
      for (const { accountId } of expired) await publishChange(trx, accountId)
    }
  })
}

async function publishChange (trx: Trx, accountId: string) {
  const { planId, status, start, end } = await trx.selectFrom('subscriptions').where('account_id', '=', accountId)
    .select(['plan_id as planId', 'status', 'current_period_start as start', 'current_period_end as end'])
    .executeTakeFirstOrThrow()
  await publish(trx, SubscriptionChanged, accountId, {
    accountId,
    planId,
    status,
    currentPeriodStart: start.toISOString(),
    currentPeriodEnd: end.toISOString()
  })
}
