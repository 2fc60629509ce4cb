import { sql } from 'kysely'
import type { PendingQuery } from '@tandem/queue-kit'
import type { Deps } from '../deps.ts'
import { orderDigest, recordReading } from '../purchases/actions.ts'
import { askRevenueCat } from '../purchases/checks.ts'
import type { Reading } from '../stores/reading.ts'
import type { Db, Store } from '../tables.ts'

type NotificationDeps = Pick<Deps, 'db' | 'secrets' | 'stores' | 'subscriptions' | 'clock' | 'mailer'>

type Notification =
  & {
    id: string,
    voidedOrderId?: string | undefined
  }
  & ({
    store: 'APPLE',
    /** What Apple signed. */
    content: Reading
  } | {
    store: Exclude<Store, 'APPLE'>,
    /** What the store is asked about: Google's purchase token, or the account tokens at RevenueCat. */
    content: string[]
  })

/** Writes a notification down, to handle it later. @returns its row, unless it is known already */
export async function storeNotification (
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { store, id, content, voidedOrderId }: Notification
) {
  const stored = await db.insertInto('store_notifications')
    .values({
      store,
      notification_id: id,
      encrypted_content: secrets.encrypt(JSON.stringify(content), 'notification', store, id),
      voided_order: voidedOrderId === undefined ? null : orderDigest({ secrets }, voidedOrderId),
      done_at: null
    })
    .onConflict((conflict) => conflict.columns(['store', 'notification_id']).doNothing())
    .returning('id').executeTakeFirst()
  return stored?.id
}

const LEASE_SECONDS = 30

/** Records what a notification is about, once. @throws Unavailable while a store that has to be asked does not answer */
export async function handleNotification (deps: NotificationDeps, id: string) {
  const { db, secrets, mailer } = deps
  const claimed = await db.updateTable('store_notifications')
    .set({ claimed_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('id', '=', id).where('done_at', 'is', null).where('claimed_until', '<=', sql<Date>`now()`)
    .returning(['store', 'notification_id', 'encrypted_content', 'voided_order']).executeTakeFirst()
  if (!claimed?.encrypted_content) return
  const { store, notification_id: notificationId, encrypted_content: sealed, voided_order: voidedOrder } = claimed
  try {
    const content = secrets.decrypt(sealed, 'notification', store, notificationId)
    const readings = store === 'APPLE'
      ? [parseReading(content)]
      : (await Promise.all((JSON.parse(content) as string[]).map(async (each) => await ask(deps, store, each)))).flat()
    // Each in a transaction of its own, which locks a purchase before accounts. A repeat after a crash changes nothing.
    for (const reading of readings) {
      const { mails } = await db.transaction().execute(async (trx) =>
        await recordReading(trx, deps, reading, { voidedOrder })
      )
      await mailer.enqueue(mails)
    }
    await db.updateTable('store_notifications').set({ done_at: deps.clock(), encrypted_content: null })
      .where('id', '=', id).execute()
  } catch (error) {
    await db.updateTable('store_notifications').set({ claimed_until: sql`now()` }).where('id', '=', id).execute()
    throw error
  }
}

const TIMES = new Set(['periodStart', 'periodEnd', 'graceEnd', 'revokedAt', 'knownAt', 'signedAt'])

const parseReading = (json: string) =>
  JSON.parse(json, (key, value: string | null) => TIMES.has(key) && value !== null ? new Date(value) : value) as Reading

async function ask (deps: NotificationDeps, store: Exclude<Store, 'APPLE'>, subject: string): Promise<Reading[]> {
  const { stores, subscriptions: { sandbox } } = deps
  // Of the token of a deleted account nothing is kept.
  if (store === 'REVENUECAT' && !await isAccountToken(deps.db, subject)) return []
  const readings = store === 'REVENUECAT' ? await askRevenueCat(deps, subject) : [await stores.google?.ask(subject)]
  return readings.filter((each) => each !== undefined)
    .filter(({ environment }) => environment === 'PRODUCTION' || sandbox !== 'off')
}

async function isAccountToken (db: Db, token: string) {
  const account = await db.selectFrom('accounts').where('account_token', '=', token).select('id').executeTakeFirst()
  return account !== undefined
}

/** The notifications that are not handled yet. */
export async function listPendingNotifications (db: Db, { olderThanSeconds, limit, after }: PendingQuery) {
  const pending = await db.selectFrom('store_notifications').select('id')
    .where('done_at', 'is', null).where('claimed_until', '<=', sql<Date>`now()`)
    .where('received_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id').limit(limit).execute()
  return pending.map(({ id }) => id)
}
