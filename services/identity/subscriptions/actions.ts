import { sql } from 'kysely'
import { workLocked } from '@tandem/database-kit'
import { runWhenDue, type Log } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'
import { deriveSubscription } from './derive.ts'
import { notifyOwner } from './notify.ts'
import { entitlementsOf } from './plans.ts'
import { purchaseColumns } from './purchase-state.ts'

const BATCH_SIZE = 100
const MAX_INTERVAL_MS = 30_000

type HousekeepingDeps = Pick<Deps, 'db' | 'subscriptions' | 'clock' | 'mailer'>

/** Something else counts from the end of a period, or from the beginning of a grant that waits. */
const dueAt = sql`least(subscriptions.next_grant_at,
  case when subscriptions.status = 'ACTIVE' then subscriptions.current_period_end end)`

/** Derives subscriptions when their period is over, or when something begins that may unlock more. */
export const startDeriving = (deps: HousekeepingDeps, log: Log) =>
  runWhenDue(async () => await deriveDue(deps), {
    findNext: async () => await findNextChange(deps.db),
    maxIntervalMs: MAX_INTERVAL_MS,
    now: deps.clock,
    log
  }).stop

async function findNextChange (db: Db) {
  const next = await db.selectFrom('subscriptions').select(sql<Date | null>`min(${dueAt})`.as('at')).executeTakeFirst()
  return next?.at
}

const deriveDue = async (deps: HousekeepingDeps) => await deriveEach(deps, sql<boolean>`${dueAt} <= ${deps.clock()}`)

/** Ends the subscriptions whose period is over, and gives the others what the configuration says that they unlock now. */
export async function updateSubscriptions (deps: HousekeepingDeps) {
  await deriveDue(deps)
  for (const planId of await listActivePlans(deps.db)) {
    const entitlements = entitlementsOf(deps.subscriptions.plans, planId)
    await deriveEach(
      deps,
      sql<boolean>`subscriptions.status = 'ACTIVE' and subscriptions.plan_id = ${planId}
        and subscriptions.entitlements <> ${entitlements}::text[]`
    )
  }
}

async function listActivePlans (db: Db) {
  const plans = await db.selectFrom('subscriptions').where('status', '=', 'ACTIVE').select('plan_id').distinct()
    .execute()
  return plans.map(({ plan_id }) => plan_id)
}

async function deriveEach ({ db, mailer, ...deps }: HousekeepingDeps, isDue: ReturnType<typeof sql<boolean>>) {
  const mails: (string | undefined)[] = []
  await workLocked(db, {
    lock: async (trx: Trx, failedIds) =>
      await trx.selectFrom('accounts').innerJoin('subscriptions', 'subscriptions.account_id', 'accounts.id')
        .select('accounts.id')
        .where(isDue)
        .where('accounts.id', '<>', sql<string>`all(${failedIds}::uuid[])`)
        .limit(BATCH_SIZE)
        .forNoKeyUpdate('accounts').skipLocked()
        .execute(),
    async work (trx, due) {
      for (const { id } of due) {
        await deriveSubscription(trx, deps, id)
        mails.push(await notifyOfEnd(trx, id))
      }
    }
  })
  await mailer.enqueue(mails)
}

/** Tells the owner of a purchase that it has ended. It does not do so for grants. */
async function notifyOfEnd (trx: Trx, accountId: string) {
  const purchase = await trx.selectFrom('purchases')
    .where(
      'id',
      '=',
      (query) =>
        query.selectFrom('subscriptions').where('account_id', '=', accountId).where('status', '=', 'EXPIRED')
          .select('purchase_id')
    )
    .select(purchaseColumns).executeTakeFirst()
  const account = purchase && await lockAccount(trx, { id: accountId })
  return account && await notifyOwner(trx, account, { kind: 'ENDED', purchase })
}
