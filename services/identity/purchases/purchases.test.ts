import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { inParallel } from '../test/app.ts'
import { testPurchases } from '../test/purchases.ts'
import { checkDue } from './checks.ts'

const {
  appStore,
  play,
  db,
  deps,
  get,
  post,
  givenAccount,
  tokenOf,
  subscriptionOf,
  sendApple,
  sendGoogle,
  notify,
  eventsOf
} = await testPurchases(t)

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
  t.match(await sendApple(account, id), {
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
  t.match(await eventsOf(account, 'changed'), [{
    planId: 'premium',
    status: 'ACTIVE',
    entitlements: ['unlimited_swipes', 'see_likes']
  }])
  t.match(await sendApple(account, id), { status: 200 }, 'restoring it changes nothing')
  t.equal((await eventsOf(account, 'changed')).length, 1)
})

t.test('a purchase of Google Play counts at once, and is acknowledged', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'plus', accountToken: await tokenOf(account) })
  t.match(await sendGoogle(account, token), {
    status: 200,
    data: { subscription: { planId: 'plus', status: 'ACTIVE', store: 'GOOGLE', entitlements: ['unlimited_swipes'] } }
  })
  await checkDue(deps, silentLog)
  t.ok(play.find(token).isAcknowledged)
  const rows = await db.selectFrom('purchases').where('account_id', '=', account.id).selectAll().execute()
  t.match(rows, [{ store_key: /^[0-9a-f]{64}$/, needs_acknowledgement: false }])
  t.notMatch(JSON.stringify(rows), token, 'the token is sealed')
})

t.test('what Google has taken back is not acknowledged any more', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  await sendGoogle(account, token)
  play.set(token, 'EXPIRED')
  await checkDue(deps, silentLog)
  t.notOk(play.find(token).isAcknowledged)
  t.match(
    await db.selectFrom('purchases').where('account_id', '=', account.id)
      .select(['state', 'needs_acknowledgement']).execute(),
    [{ state: 'EXPIRED', needs_acknowledgement: false }]
  )
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
  t.match(await post('/webhooks/google-play', body, { headers }), { status: 200 })
  await until(async () => (await subscriptionOf(ben))?.status === 'ACTIVE')
})

t.test('of 40 accounts that send one purchase one gets it', async (t) => {
  const accounts = await Promise.all(Array.from({ length: 40 }, async () => await givenAccount()))
  const id = appStore.buy({ productId: 'premium.monthly' })
  const { tally } = await inParallel(40, async (index) => await sendApple(accounts[index]!, id))
  t.same(tally, { 200: 1, '409 PURCHASE_IN_USE': 39 })
  const token = play.buy({ productId: 'premium' })
  const google = await inParallel(40, async (index) => await sendGoogle(accounts[index]!, token))
  t.same(google.tally, { 200: 1, '409 PURCHASE_IN_USE': 39 })
})
