import { sql } from 'kysely'
import t from 'tap'
import { seededRandom, shuffle } from '@tandem/test-kit'
import { recordAppleNotification } from '../webhooks/actions.ts'
import { testPurchases } from '../test/purchases.ts'

const ORDERS = 50
const DAY_HOURS = 24

const { appStore, stores, clock, db, deps, post, givenAccount, publishedEvents, tokenOf, subscriptionOf } =
  await testPurchases(t)

/** The notifications of a life of a subscription, oldest first. */
async function live (accountToken: string) {
  const id = appStore.buy({ productId: 'premium.monthly', accountToken })
  const notifications = [await appStore.signNotification(id)]
  const say = async () => {
    clock.advance(1)
    notifications.push(await appStore.signNotification(id))
  }
  for (let period = 0; period < 4; period++) {
    appStore.setAutoRenew(id, false)
    await say()
    appStore.setAutoRenew(id, true)
    await say()
    clock.advance(30 * DAY_HOURS - 3)
    const paid = { ...appStore.find(id) }
    if (period % 2 === 1) {
      appStore.failPayment(id, 3)
      await say()
      clock.advance(4 * DAY_HOURS)
      await say()
    }
    appStore.renew(id)
    await say()
    // The period that is over is refunded.
    notifications.push(
      await appStore.signNotification(id, {
        type: 'REFUND',
        transaction: {
          transactionId: paid.transactionId,
          purchaseDate: paid.purchasedAt,
          expiresDate: paid.expiresAt,
          revocationDate: clock.now().getTime()
        }
      })
    )
    await say()
  }
  appStore.setAutoRenew(id, false)
  await say()
  appStore.refund(id)
  await say()
  clock.advance(1)
  appStore.renew(id)
  await say()
  appStore.setAutoRenew(id, false)
  for (let times = 0; times < 2; times++) await say()
  return notifications
}

t.test(`${ORDERS} orders of the notifications of a life end the same`, { timeout: 280_000 }, async (t) => {
  const random = seededRandom(t)
  const account = await givenAccount()
  const notifications = await live(await tokenOf(account))
  t.ok(notifications.length >= 30, `${notifications.length} notifications`)
  const forget = async () =>
    await sql`truncate purchases, store_notifications, subscriptions, outbox, mails cascade`.execute(db)
  const readEnd = async () => {
    const { id: _, ...subscription } = await subscriptionOf(account)
    return subscription
  }

  for (const signedPayload of notifications) {
    const { status } = await post('/webhooks/app-store', { signedPayload })
    if (status !== 200) t.fail(`a notification was answered with ${status}`)
  }
  // The signatures do not depend on the order.
  const verified = await Promise.all(notifications.map(async (each) => (await stores.apple.readNotification(each))!))
  const end = await readEnd()
  t.match(end, { status: 'ACTIVE', state: 'ACTIVE', willRenew: false })
  let changes = 0
  for (let order = 0; order < ORDERS; order++) {
    await forget()
    const repeats = verified.filter(() => random() < 0.3)
    for (const each of shuffle([...verified, ...repeats], random)) await recordAppleNotification(deps, each)
    const found = await readEnd()
    if (JSON.stringify(found) !== JSON.stringify(end)) t.same(found, end, `order ${order}`)

    const events = await publishedEvents(account.id)
    const said = events.filter(({ type }) => type === 'subscription.changed').map((event) => JSON.stringify(event))
    if (said.some((each, index) => each === said[index - 1])) t.fail(`order ${order} publishes a change twice`)
    changes += said.length
    const mails = await db.selectFrom('mails').select('dedupe_key').execute()
    const notices = new Set(events.filter(({ type }) => type === 'subscription.notice').map(({ key }) => key))
    if (mails.length !== notices.size) t.fail(`order ${order} has ${mails.length} mails of ${notices.size} causes`)
  }
  t.ok(changes > ORDERS, `${changes} changes in all`)
})
