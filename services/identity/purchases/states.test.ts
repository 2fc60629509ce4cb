import t from 'tap'
import { until } from '@tandem/test-kit'
import { updateSubscriptions } from '../subscriptions/actions.ts'
import { testPurchases } from '../test/purchases.ts'
import { orderDigest, recordReading } from './actions.ts'

const {
  appStore,
  play,
  revenueCat,
  stores,
  clock,
  db,
  deps,
  get,
  post,
  mail,
  givenAccount,
  tokenOf,
  subscriptionOf,
  sendGoogle,
  allHandled,
  notify,
  push,
  runChecks,
  eventsOf
} = await testPurchases(t, {
  rpcResults: { totals: { nutritionGoal: null, totalWorkouts: 0, totalFoodEntries: 0 } }
})

type Account = Awaited<ReturnType<typeof givenAccount>>

const HOUR_MS = 60 * 60 * 1_000

const meOf = async (account: Account) => (await get('/auth/me', { as: account })).user.subscription
const premium = async (account: Account) =>
  (await eventsOf(account, 'changed')).map(({ status, entitlements }) =>
    `${String(status)} ${(entitlements as string[]).length}`
  )

t.test('every state of the App Store', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE', willRenew: true })
  appStore.setAutoRenew(id, false)
  await notify(id)
  const { currentPeriodEnd } = await subscriptionOf(account)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE', willRenew: false })
  t.equal(Date.parse(currentPeriodEnd), appStore.find(id).expiresAt, 'without a renewal it ends with the period')

  appStore.setAutoRenew(id, true)
  clock.advance(30 * 24)
  appStore.failPayment(id, 6)
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'GRACE', willRenew: true })
  t.match(await meOf(account), { status: 'ACTIVE' })
  clock.advance(6 * 24 + 1)
  t.match(
    await subscriptionOf(account),
    { status: 'EXPIRED', state: 'HOLD', entitlements: [] },
    'the grace period is over'
  )
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'HOLD' })
  t.match(await meOf(account), { status: 'EXPIRED' })
  appStore.renew(id)
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' }, 'it was paid after all')
  appStore.refund(id)
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'CANCELED', state: 'REVOKED', willRenew: false, entitlements: [] })
  t.match(await meOf(account), { status: 'CANCELED' })
  clock.advance(1)
  appStore.renew(id)
  await notify(id)
  clock.advance(30 * 24 + 1)
  appStore.giveUp(id)
  await notify(id)
  t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED', willRenew: false })
  await updateSubscriptions(deps)
  t.match(await meOf(account), { status: 'EXPIRED' })
  t.same((await premium(account)).filter((each, index, all) => each !== all[index - 1]), [
    'ACTIVE 2',
    'EXPIRED 0',
    'ACTIVE 2',
    'CANCELED 0',
    'ACTIVE 2',
    'EXPIRED 0'
  ])
})

t.test('every state of Google Play', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account), state: 'PENDING' })
  t.match(await sendGoogle(account, token), {
    status: 202,
    data: { subscription: { state: 'PENDING', status: 'EXPIRED', entitlements: [] } }
  })
  t.same(await premium(account), [])
  t.equal(await meOf(account), null)

  play.set(token, 'ACTIVE')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE', willRenew: true, store: 'GOOGLE' })
  play.set(token, 'CANCELED')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE', willRenew: false })
  play.renew(token)
  play.set(token, 'IN_GRACE_PERIOD')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'GRACE', status: 'ACTIVE' })
  play.set(token, 'ON_HOLD')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'HOLD', status: 'EXPIRED', entitlements: [] })
  play.renew(token)
  await push(token)
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE' })
  play.set(token, 'PAUSED')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'PAUSED', status: 'EXPIRED' })
  t.match(await meOf(account), { status: 'EXPIRED' })
  play.renew(token)
  await push(token)
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE' })

  const { orderId } = play.find(token)
  play.set(token, 'CANCELED')
  await push(token, { voidedPurchaseNotification: { purchaseToken: token, orderId: 'GPA.another', productType: 1 } })
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE' }, 'an earlier period was refunded')
  await push(token, { voidedPurchaseNotification: { purchaseToken: token, orderId, productType: 1 } })
  t.match(await subscriptionOf(account), { state: 'REVOKED', status: 'CANCELED' })
  await push(token)
  t.match(
    await subscriptionOf(account),
    { state: 'REVOKED', status: 'CANCELED' },
    'a later push does not bring it back'
  )

  play.renew(token)
  await push(token)
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE' })
  play.set(token, 'EXPIRED')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'EXPIRED', status: 'EXPIRED' })
})

t.test('a refund of Google counts also if what it made us read was overtaken by a newer answer', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  await push(token)
  play.set(token, 'CANCELED')
  const [older, newer] = [(await stores.google.ask(token))!, (await stores.google.ask(token))!]
  const voidedOrder = orderDigest(deps, play.find(token).orderId)
  for (const [reading, cause] of [[{ ...newer, knownAt: clock.now() }, {}], [older, { voidedOrder }]] as const) {
    await db.transaction().execute(async (trx) => await recordReading(trx, deps, reading, cause))
  }
  t.match(await subscriptionOf(account), { state: 'REVOKED', status: 'CANCELED' })
})

t.test('a process whose clock is ahead hides what a store says only for as long', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  await push(token)
  await runChecks()
  const knownAt = new Date(clock.now().getTime() + HOUR_MS / 60)
  const reading = { ...(await stores.google.ask(token))!, knownAt }
  await db.transaction().execute(async (trx) => await recordReading(trx, deps, reading))
  play.set(token, 'CANCELED')
  await push(token)
  const { calls } = play.state
  for (let times = 0; times < 3; times++) await runChecks()
  t.equal(play.state.calls, calls, 'meanwhile every answer would be overtaken, so none is asked for')
  clock.advance(1 / 30)
  await runChecks()
  t.match(await subscriptionOf(account), { state: 'ACTIVE', willRenew: false })
})

t.test('a transaction that is sent again after its refund is worth nothing', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  const signedTransaction = await appStore.signTransaction(id)
  const send = async () => await post('/subscription/purchases', { store: 'APPLE', signedTransaction }, { as: account })
  t.match(await send(), { status: 200, data: { subscription: { status: 'ACTIVE' } } })
  appStore.refund(id)
  await notify(id)
  t.match(await send(), { status: 200, data: { subscription: { status: 'CANCELED', state: 'REVOKED' } } })
})

t.test('the refund of an earlier period changes nothing, before and after the renewal is known', async (t) => {
  for (const isLate of [false, true]) {
    const account = await givenAccount()
    const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
    await notify(id)
    const { purchasedAt, expiresAt, transactionId } = appStore.find(id)
    clock.advance(29 * 24)
    appStore.renew(id)
    const renewal = await appStore.signNotification(id)
    const refund = await appStore.signNotification(id, {
      type: 'REFUND',
      transaction: {
        purchaseDate: purchasedAt,
        expiresDate: expiresAt,
        transactionId,
        revocationDate: clock.now().getTime()
      }
    })
    for (const signedPayload of isLate ? [refund, renewal] : [renewal, refund]) {
      t.match(await post('/webhooks/app-store', { signedPayload }), { status: 200 })
      await allHandled()
    }
    t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' })
  }
})

t.test('nobody loses a subscription at its renewal while the stores are away', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(ben) })
  await notify(id)
  await push(token)
  const ends = [appStore.find(id).expiresAt, play.find(token).expiresAt]
  clock.advance(30 * 24 - 1)
  await runChecks()
  appStore.renew(id)
  play.renew(token)
  Object.assign(appStore.state, { isAway: true })
  Object.assign(play.state, { isAway: true })

  clock.advance(4)
  await runChecks()
  for (const account of [ana, ben]) t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' }, '3 h')
  t.ok(ends.every((end) => end < clock.now().getTime()), 'the period is over')
  clock.advance(22)
  await runChecks()
  for (const account of [ana, ben]) {
    t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED' }, '25 h')
    t.match(await meOf(account), { status: 'EXPIRED' })
  }

  Object.assign(appStore.state, { isAway: false })
  Object.assign(play.state, { isAway: false })
  await runChecks()
  for (const account of [ana, ben]) t.match(await subscriptionOf(account), { status: 'ACTIVE' }, 'back by itself')
})

t.test('nobody loses a subscription that its store renews some minutes late', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  await notify(id)
  const bens = await tokenOf(ben)
  revenueCat.buy(bens, { productId: 'premium_rc' })
  const { body, headers } = revenueCat.createEvent({ app_user_id: bens })
  await post('/webhooks/revenuecat', body, { headers })
  await allHandled()
  clock.advance(30 * 24 - 1)
  await runChecks()

  clock.advance(1 + 1 / 60)
  await runChecks()
  for (const account of [ana, ben]) {
    t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE', willRenew: true }, 'a minute later')
  }
  appStore.renew(id)
  revenueCat.buy(bens, { productId: 'premium_rc' })
  clock.advance(1)
  await runChecks()
  for (const account of [ana, ben]) {
    t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' }, 'renewed')
    t.same((await eventsOf(account, 'notice')).map(({ kind }) => kind), ['BEGUN'])
  }

  clock.advance(30 * 24)
  appStore.expire(id)
  await notify(id)
  revenueCat.change(bens, { unsubscribe_detected_at: clock.now().toISOString() })
  await runChecks()
  for (const account of [ana, ben]) t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED' })
})

t.test('a lost notification costs an hour', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account), days: 1 })
  await notify(id)
  appStore.refund(id)
  clock.advance(1)
  await runChecks()
  t.match(await subscriptionOf(account), { state: 'REVOKED' })
})

t.test('people are notified once of each cause', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  for (let times = 0; times < 3; times++) await notify(id)
  clock.advance(30 * 24)
  appStore.failPayment(id, 6)
  for (let times = 0; times < 3; times++) await notify(id)
  appStore.giveUp(id)
  clock.advance(7 * 24)
  for (let times = 0; times < 3; times++) await notify(id)
  await updateSubscriptions(deps)
  await until(() => mail.mails(account.email).length >= 3)
  t.same(mail.mails(account.email).map(({ subject }) => subject).toSorted(), [
    'Your payment did not work',
    'Your subscription has begun',
    'Your subscription has ended'
  ])
  const notices = await eventsOf(account, 'notice')
  t.same(notices.map(({ kind }) => kind), ['BEGUN', 'PAYMENT_FAILED', 'ENDED'])
  t.equal(new Set(notices.map(({ key }) => key)).size, 3)
})

t.test('an operator grants beside a store, and what lasts longest counts', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  t.match(await subscriptionOf(account), { planId: 'plus', store: 'APPLE' })
  await db.insertInto('grants').values({
    account_id: account.id,
    plan_id: 'premium',
    reason: 'GIFT',
    given_by: null,
    starts_at: clock.now(),
    ends_at: new Date(clock.now().getTime() + 90 * 24 * HOUR_MS),
    ended_at: null
  }).execute()
  appStore.setAutoRenew(id, false)
  await notify(id)
  t.match(await subscriptionOf(account), { planId: 'premium', store: 'OPERATOR', manageUrl: null })
})
