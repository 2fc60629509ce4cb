import t from 'tap'
import { inParallel, testApp } from '../test/app.ts'
import { createClock, startStores, subscriptions } from '../test/stores.ts'
import { updateSubscriptions } from './actions.ts'
import { grantPremium, takeGrants } from './grants.ts'
import { entitlementsOf, readPlans } from './plans.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

const clock = createClock()
const stores = await startStores(t, { clock: clock.now })
const { appStore } = stores
const app = await testApp(t, { createStores: async () => await stores.create(), subscriptions, clock: clock.now })
const { db, deps, get, post, givenAccount, publishedEvents } = app

type Account = Awaited<ReturnType<typeof givenAccount>>

const subscriptionOf = async (account: Account) => (await get('/subscription', { as: account })).data.subscription
const grant = async (
  { id }: Account,
  days: number,
  reason: 'REFERRAL' | 'GIFT' | 'OPERATOR' = 'REFERRAL',
  planId?: string
) =>
  await db.transaction().execute(async (trx) =>
    await grantPremium(trx, deps, { accountId: id, reason, days, ...(planId && { planId }) })
  )
const daysLeft = async (account: Account) =>
  Math.round((Date.parse((await subscriptionOf(account)).currentPeriodEnd) - clock.now().getTime()) / DAY_MS)
const changes = async (account: Account) =>
  (await publishedEvents(account.id)).filter(({ type }) => type === 'subscription.changed')

t.test('rewards add to the end of one another, also at once', async (t) => {
  const account = await givenAccount()
  await grant(account, 7)
  await grant(account, 7, 'GIFT')
  t.match(await subscriptionOf(account), { status: 'ACTIVE', planId: 'premium', store: 'OPERATOR', willRenew: false })
  t.equal(await daysLeft(account), 14)
  await inParallel(5, async () => {
    await grant(account, 2)
    return { status: 200 }
  })
  t.equal(await daysLeft(account), 24)
  clock.advance(10 * 24)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { status: 'ACTIVE' })
  t.equal(await daysLeft(account), 14, 'the next one has begun')
  clock.advance(15 * 24)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { status: 'EXPIRED', state: 'EXPIRED', entitlements: [] })
  t.match((await changes(account)).at(-1), { status: 'EXPIRED', entitlements: [] })
})

t.test('what is granted never shortens what a store sold, and taking it back neither', async (t) => {
  const account = await givenAccount()
  const { accountToken } = (await get('/subscription/plans', { as: account })).data
  const id = appStore.buy({ productId: 'premium.monthly', accountToken })
  await post('/webhooks/app-store', { signedPayload: await appStore.signNotification(id) })
  await grant(account, 3, 'OPERATOR', 'plus')
  t.match(await subscriptionOf(account), { store: 'APPLE', planId: 'premium' })
  t.equal(await db.transaction().execute(async (trx) => await takeGrants(trx, deps, account.id)), true)
  t.match(await subscriptionOf(account), { store: 'APPLE', status: 'ACTIVE' })
  t.equal((await changes(account)).length, 1, 'nothing has changed for anybody else')
})

t.test('what a plan unlocks is configuration, and reaches those who have it', async (t) => {
  const account = await givenAccount()
  await grant(account, 30, 'GIFT', 'plus')
  t.match(await subscriptionOf(account), { entitlements: ['unlimited_swipes'] })
  const plans = subscriptions.plans.map((plan) =>
    plan.planId === 'plus' ? { ...plan, entitlements: ['unlimited_swipes' as const, 'see_likes' as const] } : plan
  )
  await updateSubscriptions({ ...deps, subscriptions: { ...deps.subscriptions, plans } })
  t.match(await subscriptionOf(account), { entitlements: ['unlimited_swipes', 'see_likes'] })
  t.equal((await changes(account)).length, 2)
  t.same(entitlementsOf(plans, 'an old plan'), ['unlimited_swipes', 'see_likes'])
})

t.test('plans that nobody can sell are refused at the start', async (t) => {
  const plan = { planId: 'premium', unlocks: [], entitlements: ['see_likes'], products: { apple: ['a'] } }
  t.match(readPlans(JSON.stringify([plan])), [plan])
  for (
    const wrong of [
      'no json',
      '[]',
      JSON.stringify([{ ...plan, entitlements: ['free_pizza'] }]),
      JSON.stringify([plan, plan]),
      JSON.stringify([plan, { ...plan, planId: 'plus' }]),
      JSON.stringify([{ ...plan, products: { other: ['a'] } }])
    ]
  ) t.throws(() => readPlans(wrong), { name: 'ConfigError', message: /SUBSCRIPTION_PLANS/ }, wrong)
})
