import t from 'tap'
import { testPurchases } from '../test/purchases.ts'

const { play, clock, givenAccount, tokenOf, subscriptionOf, push, runChecks, eventsOf } = await testPurchases(t)

const DAYS = 24

type Account = Awaited<ReturnType<typeof givenAccount>>
const noticesOf = async (account: Account) => (await eventsOf(account, 'notice')).map(({ kind }) => kind)

t.test('what is bought again in the Play Store finds its account, and is acknowledged', async (t) => {
  const account = await givenAccount()
  const accountToken = await tokenOf(account)
  const expired = play.buy({ productId: 'premium', accountToken })
  await push(expired)
  play.set(expired, 'EXPIRED')
  await push(expired)
  t.match(await subscriptionOf(account), { status: 'EXPIRED' })

  const token = play.buy({ productId: 'premium' })
  play.find(token).changes = {
    outOfAppPurchaseContext: {
      expiredPurchaseToken: expired,
      expiredExternalAccountIdentifiers: { obfuscatedExternalAccountId: accountToken }
    }
  }
  await push(token)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', store: 'GOOGLE' })
  await runChecks()
  t.ok(play.find(token).isAcknowledged, 'otherwise Google refunds it')
  play.renew(token)
  await push(token)
  t.match(await subscriptionOf(account), { status: 'ACTIVE' }, 'then Google names the account no more')
})

t.test('a purchase that was paused for three months counts again, also if its notification is lost', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  await push(token)
  clock.advance(30 * DAYS)
  play.set(token, 'PAUSED')
  await push(token)
  t.match(await subscriptionOf(account), { state: 'PAUSED', status: 'EXPIRED' })
  for (const days of [61, 31]) {
    clock.advance(days * DAYS)
    await runChecks()
  }
  play.renew(token)
  clock.advance(1)
  await runChecks()
  t.match(await subscriptionOf(account), { state: 'ACTIVE', status: 'ACTIVE' })
})

t.test('a prepaid plan does not renew: it ends with what was paid, and more can be paid before', async (t) => {
  const account = await givenAccount()
  const accountToken = await tokenOf(account)
  const buyPrepaid = (days: number, linkedToken?: string) => {
    const token = play.buy({ productId: 'premium', accountToken, ...(linkedToken && { linkedToken }) })
    const { orderId, startedAt } = play.find(token)
    const expiryTime = new Date(startedAt + days * DAYS * 60 * 60 * 1_000).toISOString()
    play.find(token).changes = {
      lineItems: [{ productId: 'premium', expiryTime, latestSuccessfulOrderId: orderId, prepaidPlan: {} }]
    }
    return { token, expiryTime }
  }
  const first = buyPrepaid(7)
  await push(first.token)
  t.match(await subscriptionOf(account), {
    status: 'ACTIVE',
    willRenew: false,
    currentPeriodEnd: first.expiryTime
  })
  clock.advance(6 * DAYS)
  const more = buyPrepaid(8, first.token)
  await push(more.token)
  t.match(await subscriptionOf(account), { status: 'ACTIVE', currentPeriodEnd: more.expiryTime })
  clock.advance(8 * DAYS + 1)
  t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED' }, 'at once')
  play.set(more.token, 'EXPIRED')
  await push(more.token)
  t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED', willRenew: false })
  t.same(await noticesOf(account), ['BEGUN', 'BEGUN', 'ENDED'], 'nobody is billed twice')
})

t.test('a plan that changes at the end of the period counts until then, whichever item Google names first', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  const { expiresAt, orderId } = play.find(token)
  const ending = {
    productId: 'premium',
    expiryTime: new Date(expiresAt).toISOString(),
    latestSuccessfulOrderId: orderId,
    autoRenewingPlan: { autoRenewEnabled: false },
    deferredItemReplacement: { productId: 'plus' }
  }
  const next = { productId: 'plus', autoRenewingPlan: { autoRenewEnabled: true } }
  for (const lineItems of [[ending, next], [next, ending]]) {
    play.find(token).changes = { lineItems }
    await push(token)
    t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE', state: 'ACTIVE', willRenew: true })
  }
  clock.advance(30 * DAYS)
  play.find(token).changes = {
    lineItems: [ending, { ...next, expiryTime: new Date(expiresAt + 30 * DAYS * 60 * 60 * 1_000).toISOString() }]
  }
  await push(token)
  t.match(await subscriptionOf(account), { planId: 'plus', status: 'ACTIVE', willRenew: true })
})

t.test('an add-on that is in no plan leaves the plan beside it', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  const expiryTime = new Date(play.find(token).expiresAt).toISOString()
  const renewing = { expiryTime, autoRenewingPlan: { autoRenewEnabled: true } }
  play.find(token).changes = {
    lineItems: [{ productId: 'extra_charts', ...renewing }, { productId: 'premium', ...renewing }]
  }
  await push(token)
  t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
  await runChecks()
  t.ok(play.find(token).isAcknowledged)
})
