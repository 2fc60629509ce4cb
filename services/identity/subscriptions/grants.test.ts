import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { inParallel } from '../test/app.ts'
import { testPurchases } from '../test/purchases.ts'
import { subscriptions } from '../test/stores.ts'
import { startDeriving, updateSubscriptions } from './actions.ts'
import { deriveSubscription } from './derive.ts'
import { grantPremium, takeGrants } from './grants.ts'
import { entitlementsOf, readPlans } from './plans.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

const { appStore, clock, db, deps, givenAccount, tokenOf, subscriptionOf, notify, runChecks, eventsOf } =
  await testPurchases(t)

type Account = Awaited<ReturnType<typeof givenAccount>>

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
  t.match((await eventsOf(account, 'changed')).at(-1), { status: 'EXPIRED', entitlements: [] })
})

t.test('what is granted never shortens what a store sold, and taking it back neither', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  await grant(account, 3, 'OPERATOR', 'plus')
  t.match(await subscriptionOf(account), { store: 'APPLE', planId: 'premium' })
  t.equal(await db.transaction().execute(async (trx) => await takeGrants(trx, deps, account.id)), true)
  t.match(await subscriptionOf(account), { store: 'APPLE', status: 'ACTIVE' })
  t.equal((await eventsOf(account, 'changed')).length, 1, 'nothing has changed for anybody else')
})

t.test('what an operator grants starts now, and ends no reward', async (t) => {
  const account = await givenAccount()
  await grant(account, 60, 'REFERRAL')
  await grant(account, 30, 'OPERATOR')
  await grant(account, 7, 'OPERATOR')
  t.equal(await daysLeft(account), 60)
})

t.test('a reward that waits follows what an operator grants instead, shorter or longer', async (t) => {
  for (const days of [10, 60]) {
    const account = await givenAccount()
    await grant(account, 30, 'OPERATOR')
    await grant(account, 7, 'REFERRAL')
    await grant(account, 5, 'GIFT')
    clock.advance(24)
    await grant(account, days, 'OPERATOR')
    t.equal(await daysLeft(account), days + 12)
    clock.advance((days + 1) * 24)
    await updateSubscriptions(deps)
    t.match(await subscriptionOf(account), { status: 'ACTIVE' })
    t.equal(await daysLeft(account), 11, 'the reward has begun')
    clock.advance(12 * 24)
    await updateSubscriptions(deps)
    t.match(await subscriptionOf(account), { status: 'EXPIRED' })
  }
})

t.test('of two plans the one that unlocks more counts, and then the other one', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(account) })
  await notify(id)
  await grant(account, 7, 'GIFT', 'premium')
  t.match(await subscriptionOf(account), {
    planId: 'premium',
    store: 'OPERATOR',
    entitlements: ['unlimited_swipes', 'see_likes'],
    manageUrl: /apple/
  }, 'with where the store bills meanwhile')
  clock.advance(8 * 24)
  await runChecks()
  t.match(await subscriptionOf(account), { planId: 'plus', store: 'APPLE', entitlements: ['unlimited_swipes'] })
})

t.test('grants of several plans follow each other', async (t) => {
  const account = await givenAccount()
  await grant(account, 5, 'GIFT', 'plus')
  await grant(account, 5, 'REFERRAL', 'premium')
  t.match(await subscriptionOf(account), { planId: 'plus' })
  t.equal(await daysLeft(account), 5)
  clock.advance(5 * 24 + 1)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
})

t.test('a reward that waited counts at its time also beside a longer purchase that unlocks less', async (t) => {
  const account = await givenAccount()
  await grant(account, 5, 'GIFT', 'plus')
  await grant(account, 5, 'REFERRAL', 'premium')
  await notify(appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(account) }))
  t.match(await subscriptionOf(account), { planId: 'plus', store: 'APPLE' })
  clock.advance(5 * 24 + 1)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
  clock.advance(5 * 24)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { planId: 'plus', store: 'APPLE' })
})

t.test('a grant that waits begins at its time also after a gap, as an earlier version left it', async (t) => {
  const account = await givenAccount()
  await grant(account, 5, 'OPERATOR')
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  await db.insertInto('grants').values({
    account_id: account.id,
    plan_id: 'premium',
    reason: 'REFERRAL',
    given_by: null,
    starts_at: at(30),
    ends_at: at(37),
    ended_at: null
  }).execute()
  // As migration 024 does.
  await db.updateTable('subscriptions').set({ next_grant_at: at(30) }).where('account_id', '=', account.id).execute()
  clock.advance(6 * 24)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { status: 'EXPIRED' })
  clock.advance(25 * 24)
  await updateSubscriptions(deps)
  t.match(await subscriptionOf(account), { status: 'ACTIVE' })
  t.equal(await daysLeft(account), 6)
  clock.advance(7 * 24)
  await updateSubscriptions(deps)
  t.match((await eventsOf(account, 'changed')).map(({ status }) => status), ['ACTIVE', 'EXPIRED', 'ACTIVE', 'EXPIRED'])
})

t.test('processes that derive at once, later than several grants, publish once what counts now', async (t) => {
  const accounts = await Promise.all(Array.from({ length: 8 }, async () => await givenAccount()))
  for (const account of accounts) {
    await grant(account, 5, 'GIFT', 'plus')
    await grant(account, 5, 'REFERRAL', 'premium')
    await grant(account, 5, 'GIFT', 'plus')
    await notify(appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(account) }))
  }
  const derive = async () => await Promise.all(Array.from({ length: 4 }, async () => await updateSubscriptions(deps)))
  clock.advance(6 * 24)
  await derive()
  for (const account of accounts) t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
  // The purchase is not yet renewed, and the process was away while two grants ended and one began.
  clock.advance(24 * 24 + 1)
  await derive()
  await derive()
  for (const account of accounts) {
    t.match(await subscriptionOf(account), { planId: 'plus', store: 'APPLE', status: 'ACTIVE' })
    const plans = (await eventsOf(account, 'changed')).map(({ planId }) => planId)
    t.same(plans, ['plus', 'plus', 'premium', 'plus'])
  }
})

t.test('a plan that follows another one begins when that ends', async (t) => {
  const account = await givenAccount()
  const at = (seconds: number) => new Date(clock.now().getTime() + seconds * 1_000)
  const end = at(1)
  await db.insertInto('grants').values(
    [{ plan_id: 'plus', starts_at: at(-1), ends_at: end }, { plan_id: 'premium', starts_at: end, ends_at: at(60) }]
      .map((each) => ({ account_id: account.id, reason: 'GIFT' as const, given_by: null, ended_at: null, ...each }))
  ).execute()
  await db.transaction().execute(async (trx) => await deriveSubscription(trx, deps, account.id))
  t.match(await subscriptionOf(account), { planId: 'plus' })
  t.teardown(startDeriving(deps, silentLog))
  await until(async () => (await subscriptionOf(account)).planId === 'premium')
  t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
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
  t.equal((await eventsOf(account, 'changed')).length, 2)
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
