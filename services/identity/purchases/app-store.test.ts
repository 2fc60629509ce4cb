import t from 'tap'
import { testPurchases } from '../test/purchases.ts'

const { appStore, clock, create, db, post, givenAccount, tokenOf, subscriptionOf, sendApple, notify, runChecks } =
  await testPurchases(t)

const DAYS = 24

t.test('a subscription that Apple does not find for a moment is asked for again', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  clock.advance(29 * DAYS)
  Object.assign(appStore.state, { notFoundCode: 4_040_006 })
  await runChecks()
  const { check_at } = await db.selectFrom('purchases').where('store_key', '=', id).select('check_at')
    .executeTakeFirstOrThrow()
  t.ok(check_at, 'it is asked for again')
  Object.assign(appStore.state, { notFoundCode: undefined })
  appStore.renew(id)
  clock.advance(3 * DAYS)
  await db.updateTable('purchases').set({ check_at: clock.now() }).where('check_at', 'is not', null).execute()
  await runChecks()
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' }, 'no notification was needed')
})

t.test('who has just paid waits for no notification while Apple says nothing of its certificates', async (t) => {
  const fresh = (await create()).apple
  Object.assign(appStore.state, { ocspHangs: true })
  t.teardown(() => Object.assign(appStore.state, { ocspHangs: false }))
  const id = appStore.buy({ productId: 'premium.monthly' })
  const signedPayload = await appStore.signNotification(id)
  // More than are verified at a time.
  let waiting = 10
  const notifications = Array.from({ length: waiting }, async () => {
    await t.rejects(fresh.readNotification(signedPayload), { code: 'SERVICE_UNAVAILABLE' })
    waiting--
  })
  await t.rejects(fresh.readTransaction(await appStore.signTransaction(id)), { code: 'SERVICE_UNAVAILABLE' })
  t.ok(waiting > 0, 'notifications still wait')
  await Promise.all(notifications)
})

t.test('the newest of an upgrade, an extension and a refund that is taken back counts', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  t.match(await subscriptionOf(account), { planId: 'plus', entitlements: ['unlimited_swipes'] })

  const old = await appStore.signTransaction(id, { isUpgraded: true })
  clock.advance(1)
  Object.assign(appStore.find(id), { productId: 'premium.monthly', purchasedAt: clock.now().getTime() })
  await notify(id, { type: 'DID_CHANGE_RENEWAL_PREF' })
  await post('/subscription/purchases', { store: 'APPLE', signedTransaction: old }, { as: account })
  t.match(await subscriptionOf(account), { planId: 'premium', entitlements: ['unlimited_swipes', 'see_likes'] })

  clock.advance(1)
  appStore.find(id).expiresAt += 10 * DAYS * 60 * 60 * 1_000
  appStore.setAutoRenew(id, false)
  await notify(id, { type: 'RENEWAL_EXTENDED' })
  t.equal(Date.parse((await subscriptionOf(account)).currentPeriodEnd), appStore.find(id).expiresAt)

  clock.advance(1)
  appStore.refund(id)
  const refund = await appStore.signNotification(id, { type: 'REFUND' })
  clock.advance(1)
  Object.assign(appStore.find(id), { revokedAt: undefined })
  await notify(id, { type: 'REFUND_REVERSED' })
  t.match(await post('/webhooks/app-store', { signedPayload: refund }), { status: 200 }, 'the refund comes late')
  await runChecks()
  t.match(await subscriptionOf(account), { status: 'ACTIVE', state: 'ACTIVE' })
})

t.test('what a family shares counts for each, and ends for one who leaves it', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  const shared = appStore.buy({ productId: 'premium.monthly', isFamilyShared: true })
  await notify(id)
  await notify(shared)
  t.match(await sendApple(ben, shared), { status: 200, data: { subscription: { isFamilyShared: true } } })
  clock.advance(1)
  appStore.refund(shared)
  await notify(shared, { type: 'REVOKE' })
  t.match(await subscriptionOf(ben), { status: 'CANCELED', state: 'REVOKED', store: 'APPLE' })
  t.match(await subscriptionOf(ana), { status: 'ACTIVE' })
})
