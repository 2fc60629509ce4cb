import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { checkDue } from './checks.ts'
import { inParallel, testApp } from '../test/app.ts'
import { createClock, startStores, subscriptions } from '../test/stores.ts'

const clock = createClock()
const stores = await startStores(t, { clock: clock.now })
const { appStore, play } = stores
const app = await testApp(t, {
  createStores: async () => await stores.create(),
  subscriptions,
  clock: clock.now
})
const { db, deps, get, post, givenAccount, publishedEvents } = app

type Account = Awaited<ReturnType<typeof givenAccount>>

const tokenOf = async (account: Account): Promise<string> =>
  (await get('/subscription/plans', { as: account })).data.accountToken
const subscriptionOf = async (account: Account) => (await get('/subscription', { as: account })).data.subscription
const postApple = async (account: Account, id: string, extra: object = {}) =>
  await post('/subscription/purchases', {
    store: 'APPLE',
    signedTransaction: await appStore.signTransaction(id),
    ...extra
  }, { as: account })
const postGoogle = async (account: Account, purchaseToken: string, extra: object = {}) =>
  await post('/subscription/purchases', { store: 'GOOGLE', purchaseToken, ...extra }, { as: account })
const notify = async (id: string, options: Parameters<typeof appStore.signNotification>[1] = {}) =>
  await post('/webhooks/app-store', { signedPayload: await appStore.signNotification(id, options) })
const changes = async (account: Account) =>
  (await publishedEvents(account.id)).filter(({ type }) => type === 'subscription.changed')

t.test('what can be bought names plans, products and the token of the account', async (t) => {
  const account = await givenAccount()
  const { data } = await get('/subscription/plans', { as: account })
  t.match(data.accountToken, /^[0-9a-f-]{36}$/)
  t.not(data.accountToken, account.id)
  t.match(data.plans, [{ planId: 'premium', products: { apple: ['premium.monthly', 'premium.yearly'] } }, {
    planId: 'plus'
  }])
  t.equal(await subscriptionOf(account), null)
})

t.test('a purchase of the App Store counts at once', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  t.match(await postApple(account, id), {
    status: 200,
    data: {
      subscription: {
        planId: 'premium',
        status: 'ACTIVE',
        state: 'ACTIVE',
        store: 'APPLE',
        willRenew: true,
        isSandbox: false,
        entitlements: ['unlimited_swipes', 'see_likes'],
        manageUrl: /apple/
      }
    }
  })
  t.match(await changes(account), [{
    planId: 'premium',
    status: 'ACTIVE',
    entitlements: ['unlimited_swipes', 'see_likes']
  }])
  t.match(await postApple(account, id), { status: 200 }, 'restoring it changes nothing')
  t.equal((await changes(account)).length, 1)
})

t.test('a purchase of Google Play counts at once, and is acknowledged', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'plus', accountToken: await tokenOf(account) })
  t.match(await postGoogle(account, token), {
    status: 200,
    data: { subscription: { planId: 'plus', status: 'ACTIVE', store: 'GOOGLE', entitlements: ['unlimited_swipes'] } }
  })
  await checkDue(deps, silentLog)
  t.ok(play.find(token).isAcknowledged)
  const rows = await db.selectFrom('purchases').where('account_id', '=', account.id).selectAll().execute()
  t.match(rows, [{ store_key: /^[0-9a-f]{64}$/, needs_acknowledgement: false }])
  t.notMatch(JSON.stringify(rows), token, 'the token is sealed')
})

t.test('a notification alone makes a subscription', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  t.match(await notify(id, { type: 'SUBSCRIBED' }), { status: 200, success: true })
  t.match(await subscriptionOf(ana), { status: 'ACTIVE', store: 'APPLE' })

  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(ben) })
  const { body, headers } = await play.createPush({
    subscriptionNotification: { notificationType: 4, purchaseToken: token }
  })
  const startedAt = performance.now()
  t.match(await post('/webhooks/google-play', body, { headers }), { status: 200 })
  await until(async () => (await subscriptionOf(ben))?.status === 'ACTIVE')
  t.ok(performance.now() - startedAt < 1_000, 'within a second')
})

t.test('of 40 accounts that send one purchase one gets it', async (t) => {
  const accounts = await Promise.all(Array.from({ length: 40 }, async () => await givenAccount()))
  const id = appStore.buy({ productId: 'premium.monthly' })
  const { tally } = await inParallel(40, async (index) => await postApple(accounts[index]!, id))
  t.same(tally, { 200: 1, '409 PURCHASE_IN_USE': 39 })
  const token = play.buy({ productId: 'premium' })
  const google = await inParallel(40, async (index) => await postGoogle(accounts[index]!, token))
  t.same(google.tally, { 200: 1, '409 PURCHASE_IN_USE': 39 })
})
