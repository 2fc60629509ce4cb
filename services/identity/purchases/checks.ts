import { sql, type Selectable, type SqlBool } from 'kysely'
import { workDue } from '@tandem/database-kit'
import { runPeriodically, type Log } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Reading } from '../stores/reading.ts'
import type { Tables } from '../tables.ts'
import { recordReading } from './actions.ts'

const INTERVAL_MS = 5_000
const WORKERS = 4
// Longer than the calls of a store take.
const LEASE_SECONDS = 60
const RETRY_SECONDS = 10
const MAX_RETRY_SECONDS = 15 * 60
// About a week. After that the store is asked every hour.
const MAX_ATTEMPTS = 700

type CheckDeps = Pick<Deps, 'db' | 'secrets' | 'stores' | 'subscriptions' | 'clock' | 'mailer'>

/** Asks the stores about purchases that are due, and acknowledges new ones of Google, until the store answers. */
export const startChecking = (deps: Deps, log: Log) =>
  runPeriodically(async () => {
    await Promise.all(Array.from({ length: WORKERS }, async () => await checkDue(deps, log)))
  }, { intervalMs: INTERVAL_MS, log })

export async function checkDue (deps: CheckDeps, log: Log) {
  const { db } = deps
  await workDue(db, 'purchases', {
    key: 'id',
    dueAt: 'check_at',
    // Nobody has anything of the others.
    where: sql<SqlBool>`account_id is not null`,
    leaseSeconds: LEASE_SECONDS,
    retrySeconds: RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    maxAttempts: MAX_ATTEMPTS,
    log,
    work: async (purchase) => await checkPurchase(deps, purchase, log),
    giveUp: async ({ id }) => {
      await db.updateTable('purchases').set({ check_at: sql`now() + interval '1 hour'`, attempts: 0 })
        .where('id', '=', id).execute()
    }
  })
}

async function checkPurchase (deps: CheckDeps, purchase: Selectable<Tables['purchases']>, log: Log) {
  const { db, mailer, stores } = deps
  const readings = await askStore(deps, purchase)
  if (!readings.some(({ key }) => key === purchase.store_key)) {
    // Without a key Apple cannot be asked, and its notifications have to do.
    if (purchase.store !== 'APPLE' || stores.apple?.canAsk) {
      log.warn({ purchaseId: purchase.id, store: purchase.store }, 'the store does not know a purchase')
    }
    await db.updateTable('purchases').set({ check_at: null }).where('id', '=', purchase.id).execute()
  }
  for (const reading of readings) {
    const { mails } = await db.transaction().execute(async (trx) => await recordReading(trx, deps, reading))
    await mailer.enqueue(mails)
  }
}

async function askStore (deps: CheckDeps, purchase: Selectable<Tables['purchases']>): Promise<Reading[]> {
  const { stores, secrets } = deps
  const { store, store_key: key, environment, encrypted_token: sealed } = purchase
  if (store === 'APPLE') return [await stores.apple?.ask(key, environment)].filter((each) => each !== undefined)
  if (store === 'REVENUECAT') return await askRevenueCat(deps, key)
  if (!stores.google || !sealed) return []
  const token = secrets.decrypt(sealed, 'purchase', key)
  const reading = await stores.google.ask(token)
  if (!reading) return []
  if (reading.needsAcknowledgement) await stores.google.acknowledge(token, reading.productId)
  return [{ ...reading, needsAcknowledgement: false }]
}

/** What RevenueCat knows of a person. What it no longer knows, such as after a transfer, has ended. */
export async function askRevenueCat (
  { db, stores, clock }: Pick<Deps, 'db' | 'stores' | 'clock'>,
  accountToken: string
): Promise<Reading[]> {
  if (!stores.revenuecat) return []
  const knownAt = clock()
  const readings = await stores.revenuecat.ask(accountToken)
  const known = await db.selectFrom('purchases').where('store', '=', 'REVENUECAT').where('store_key', '=', accountToken)
    .select(['environment', 'product_id', 'plan_id', 'period_start', 'period_end', 'manage_url', 'is_family_shared'])
    .execute()
  const gone = known.filter(({ environment }) => !readings.some((each) => each.environment === environment))
  return [
    ...readings,
    ...gone.map((each): Reading => ({
      store: 'REVENUECAT',
      environment: each.environment,
      key: accountToken,
      productId: each.product_id,
      planId: each.plan_id,
      accountToken,
      orderId: null,
      state: 'EXPIRED',
      willRenew: false,
      isTrial: false,
      isFamilyShared: each.is_family_shared,
      periodStart: each.period_start,
      periodEnd: each.period_end < knownAt ? each.period_end : knownAt,
      graceEnd: null,
      revokedAt: null,
      manageUrl: each.manage_url,
      replaces: [],
      needsAcknowledgement: false,
      knownAt,
      isComplete: true
    }))
  ]
}
