import t from 'tap'
import { runConcurrently, seededRandom, shuffle } from '@tandem/test-kit'
import { handleNotification, storeNotification } from '../webhooks/actions.ts'
import { testPurchases } from '../test/purchases.ts'

const ORDERS = 25
const DAY_HOURS = 24

const { appStore, stores, clock, db, deps, post, givenAccount, publishedEvents, allHandled, tokenOf, subscriptionOf } =
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

t.test(`${ORDERS} orders of the notifications of a life end the same`, async (t) => {
  const random = seededRandom(t)
  const first = await givenAccount()
  const notifications = await live(await tokenOf(first))
  t.ok(notifications.length >= 30, `${notifications.length} notifications`)
  const readEnd = async (account: typeof first) => {
    const { id: _, ...subscription } = await subscriptionOf(account)
    return subscription
  }
  for (const signedPayload of notifications) {
    const { status } = await post('/webhooks/app-store', { signedPayload })
    if (status !== 200) t.fail(`a notification was answered with ${status}`)
  }
  await allHandled()
  const end = await readEnd(first)
  t.match(end, { status: 'ACTIVE', state: 'ACTIVE', willRenew: false })

  // The signatures do not depend on the order.
  const verified = await Promise.all(notifications.map(async (each) => (await stores.apple.readNotification(each))!))
  const orders = Array.from(
    { length: ORDERS },
    () => shuffle([...verified, ...verified.filter(() => random() < 0.3)], random)
  )
  const changes = await runConcurrently(orders.map((order, number) => async () => {
    const account = await givenAccount()
    const accountToken = await tokenOf(account)
    for (const { id, reading } of order) {
      if (!reading) continue
      const content = { ...reading, key: `${reading.key} ${number}`, accountToken }
      const stored = await storeNotification(deps, { store: 'APPLE', id: `${id} ${number}`, content })
      if (stored !== undefined) await handleNotification(deps, stored)
    }
    const found = await readEnd(account)
    if (JSON.stringify(found) !== JSON.stringify(end)) t.same(found, end, `order ${number}`)

    const events = await publishedEvents(account.id)
    const said = events.filter(({ type }) => type === 'subscription.changed').map((event) => JSON.stringify(event))
    if (said.some((each, index) => each === said[index - 1])) t.fail(`order ${number} publishes a change twice`)
    const mails = await db.selectFrom('mails').where('account_id', '=', account.id).select('dedupe_key').execute()
    const causes = new Set(events.filter(({ type }) => type === 'subscription.notice').map(({ key }) => key))
    if (mails.length !== causes.size) t.fail(`order ${number} has ${mails.length} mails of ${causes.size} causes`)
    return said.length
  }))
  t.ok(changes.every((count) => count > 0), `${changes.reduce((sum, count) => sum + count, 0)} changes in all`)
})
