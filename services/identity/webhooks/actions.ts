import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { orderDigest, recordReading } from '../purchases/actions.ts'
import { askRevenueCat } from '../purchases/checks.ts'
import type { AppleNotification } from '../stores/apple.ts'
import type { Reading } from '../stores/reading.ts'
import type { Db, Store } from '../tables.ts'

type NotificationDeps = Pick<Deps, 'db' | 'secrets' | 'stores' | 'subscriptions' | 'clock' | 'mailer'>

/** Handles a verified notification of Apple, once, in the transaction that writes it down. */
export async function recordAppleNotification (deps: NotificationDeps, { id, reading }: AppleNotification) {
  const { db, mailer } = deps
  const mails = await db.transaction().execute(async (trx) => {
    const written = await trx.insertInto('store_notifications')
      .values({
        store: 'APPLE',
        notification_id: id,
        encrypted_subject: null,
        voided_order: null,
        done_at: deps.clock()
      })
      .onConflict((conflict) => conflict.columns(['store', 'notification_id']).doNothing())
      .returning('id').executeTakeFirst()
    return written && reading ? (await recordReading(trx, deps, reading)).mails : []
  })
  await mailer.enqueue(mails)
}

interface Notification {
  store: Exclude<Store, 'APPLE'>
  id: string
  /** What the store is asked about: Google's purchase token, or the account tokens at RevenueCat. */
  subjects: string[]
  voidedOrderId?: string | undefined
}

/** Writes a notification down, to ask its store later. @returns its row, unless it is known already */
export async function storeNotification (
  { db, secrets }: Pick<Deps, 'db' | 'secrets'>,
  { store, id, subjects, voidedOrderId }: Notification
) {
  const stored = await db.insertInto('store_notifications')
    .values({
      store,
      notification_id: id,
      encrypted_subject: secrets.encrypt(JSON.stringify(subjects), 'notification', store, id),
      voided_order: voidedOrderId === undefined ? null : orderDigest({ secrets }, voidedOrderId),
      done_at: null
    })
    .onConflict((conflict) => conflict.columns(['store', 'notification_id']).doNothing())
    .returning('id').executeTakeFirst()
  return stored?.id
}

const LEASE_SECONDS = 30

/** Asks the store what a notification is about, and records it. @throws Unavailable while the store does not answer */
export async function handleNotification (deps: NotificationDeps, id: string) {
  const { db, secrets, mailer } = deps
  const claimed = await db.updateTable('store_notifications')
    .set({ claimed_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('id', '=', id).where('done_at', 'is', null).where('claimed_until', '<=', sql<Date>`now()`)
    .returning(['store', 'notification_id', 'encrypted_subject', 'voided_order']).executeTakeFirst()
  if (!claimed?.encrypted_subject) return
  const { store, notification_id: notificationId, encrypted_subject: sealed, voided_order: voidedOrder } = claimed
  try {
    const subjects = JSON.parse(secrets.decrypt(sealed, 'notification', store, notificationId)) as string[]
    const readings = (await Promise.all(subjects.map(async (each) => await ask(deps, store, each)))).flat()
    const mails = await db.transaction().execute(async (trx) => {
      const recorded = []
      for (const reading of readings.toSorted((one, other) => one.key < other.key ? -1 : 1)) {
        recorded.push(...(await recordReading(trx, deps, reading, { voidedOrder })).mails)
      }
      await trx.updateTable('store_notifications').set({ done_at: deps.clock(), encrypted_subject: null })
        .where('id', '=', id).execute()
      return recorded
    })
    await mailer.enqueue(mails)
  } catch (error) {
    await db.updateTable('store_notifications').set({ claimed_until: sql`now()` }).where('id', '=', id).execute()
    throw error
  }
}

async function ask (deps: NotificationDeps, store: Store, subject: string): Promise<Reading[]> {
  const { stores, subscriptions: { sandbox } } = deps
  const readings = store === 'REVENUECAT' ? await askRevenueCat(deps, subject) : [await stores.google?.ask(subject)]
  return readings.filter((each) => each !== undefined)
    .filter(({ environment }) => environment === 'PRODUCTION' || sandbox !== 'off')
}

interface Page {
  olderThanSeconds: number
  limit: number
  after: string | undefined
}

/** The notifications whose store has not answered yet. */
export async function listPendingNotifications (db: Db, { olderThanSeconds, limit, after }: Page) {
  const pending = await db.selectFrom('store_notifications').select('id')
    .where('done_at', 'is', null).where('claimed_until', '<=', sql<Date>`now()`)
    .where('received_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id').limit(limit).execute()
  return pending.map(({ id }) => id)
}
