import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { SubscriptionChanged } from '@tandem/contracts'
import type { Db, Role } from '../schema.ts'
import { endSessions } from '../sessions/actions.ts'
import { findAccountIdByEmail } from './queries.ts'

/** Gives or takes a role. Access tokens carry the role, so the sessions that would still show the old one end. */
export async function setRole (db: Db, email: string, role: Role) {
  await db.transaction().execute(async (trx) => {
    const accountId = await findAccountIdByEmail(trx, email)
    await trx.updateTable('accounts').set({ role, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
  })
}

/** Gives a subscription from now on for `days`, or ends the one there is with 0 days. */
export async function setSubscription (db: Db, email: string, planId: string, days: number) {
  await db.transaction().execute(async (trx) => {
    const accountId = await findAccountIdByEmail(trx, email)
    const status = days > 0 ? 'ACTIVE' as const : 'CANCELED' as const
    const terms = {
      plan_id: planId,
      status,
      current_period_start: sql<Date>`now()`,
      current_period_end: sql<Date>`now() + make_interval(days => ${days}::int)`
    }
    const subscription = await trx.insertInto('subscriptions').values({ account_id: accountId, ...terms })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(terms))
      .returning(['current_period_start', 'current_period_end'])
      .executeTakeFirstOrThrow()
    await record(trx, SubscriptionChanged, accountId, {
      accountId,
      planId,
      status,
      currentPeriodStart: subscription.current_period_start.toISOString(),
      currentPeriodEnd: subscription.current_period_end.toISOString()
    })
  })
}

/** Keeps somebody out: every session ends and no new one begins, until he is let in again. */
export async function setBarred (db: Db, email: string, barred: boolean) {
  await db.transaction().execute(async (trx) => {
    const accountId = await findAccountIdByEmail(trx, email)
    await trx.updateTable('accounts').set({ barred_at: barred ? sql`now()` : null, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    if (barred) await endSessions(trx, { accountId })
  })
}

export async function endAllSessions (db: Db, email: string) {
  return await db.transaction().execute(async (trx) => await endSessions(trx, { accountId: await findAccountIdByEmail(trx, email) }))
}
