import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { endsWithin, until } from '@tandem/test-kit'
import { inParallel, testApp } from '../test/app.ts'
import { testPurchases } from '../test/purchases.ts'
import { subscriptions } from '../test/stores.ts'
import { eraseAccount } from '../erasures/stub.ts'
import { runHousekeeping } from '../housekeeping.ts'
import { checkDue } from './checks.ts'
import { disownPurchases } from './disown.ts'

const {
  appStore,
  play,
  create,
  stores,
  clock,
  db,
  deps,
  post,
  mail,
  givenAccount,
  tokenOf,
  subscriptionOf,
  sendApple,
  sendGoogle,
  notify,
  push,
  eventsOf
} = await testPurchases(t)

type Account = Awaited<ReturnType<typeof givenAccount>>

const transfer = { transfer: true }
const noticesOf = async (account: Account) => (await eventsOf(account, 'notice')).map(({ kind }) => kind)
const holders = async (accounts: Account[]) => {
  const found = await Promise.all(accounts.map(async (account) => (await subscriptionOf(account))?.status === 'ACTIVE'))
  return found.filter(Boolean).length
}

t.test('a purchase that names another account is refused, and counts there', async (t) => {
  const [ana, eve] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  t.match(await sendApple(eve, id), { status: 409, code: 'PURCHASE_IN_USE' })
  t.equal(await subscriptionOf(eve), null)
  t.match(await subscriptionOf(ana), { status: 'ACTIVE' }, 'the token alone makes a subscription')
})

t.test('a purchase moves if its owner asks for it, and both accounts are notified', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  await sendApple(ana, id)
  t.match(await sendApple(ben, id), { status: 409, code: 'PURCHASE_IN_USE' })
  t.match(await sendApple(ben, id, transfer), { status: 200, data: { subscription: { status: 'ACTIVE' } } })
  t.match(await subscriptionOf(ana), {
    status: 'CANCELED',
    entitlements: [],
    store: 'APPLE',
    state: 'REVOKED',
    willRenew: false
  })
  t.same(await noticesOf(ana), ['BEGUN', 'MOVED'])
  t.same(await noticesOf(ben), ['RECEIVED'])
  await until(() => mail.mails(ana.email).some(({ subject }) => /moved to another account/.test(subject)))

  appStore.setAutoRenew(id, false)
  await notify(id)
  t.match(await subscriptionOf(ben), { status: 'ACTIVE', willRenew: false }, 'it stays where it was moved')

  t.match(await sendApple(ana, id, transfer), { status: 200 }, 'it can be taken back')
  t.match(await sendApple(ben, id, transfer), { status: 429, code: 'LIMIT_EXCEEDED' }, 'not a third time in 30 days')
  t.equal(await holders([ana, ben]), 1)
  clock.advance(30 * 24 + 1)
  appStore.renew(id)
  t.match(await sendApple(ben, id, transfer), { status: 200 })
})

t.test('an old transaction moves nothing, and neither does a purchase that has ended', async (t) => {
  const [ana, eve] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  const signedTransaction = await appStore.signTransaction(id)
  await sendApple(ana, id)
  clock.advance(2)
  const send = async () =>
    await post('/subscription/purchases', { store: 'APPLE', signedTransaction, transfer: true }, { as: eve })
  t.match(await send(), { status: 409, code: 'PURCHASE_IN_USE' })
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(ana) })
  await sendGoogle(ana, token)
  play.set(token, 'EXPIRED')
  t.match(await sendGoogle(eve, token, transfer), { status: 409, code: 'PURCHASE_IN_USE' })
  t.equal(await subscriptionOf(eve), null)
})

t.test('of transfers at once there is one holder', async (t) => {
  for (const store of ['APPLE', 'GOOGLE'] as const) {
    const [owner, ...others] = await Promise.all(Array.from({ length: 6 }, async () => await givenAccount()))
    const accountToken = await tokenOf(owner!)
    const bought = store === 'APPLE'
      ? appStore.buy({ productId: 'premium.monthly', accountToken })
      : play.buy({ productId: 'premium', accountToken })
    const send = store === 'APPLE' ? sendApple : sendGoogle
    await send(owner!, bought)
    const { tally } = await inParallel(5, async (index) => await send(others[index]!, bought, transfer))
    t.same(tally, { 200: 2, '429 LIMIT_EXCEEDED': 3 })
    t.equal(await holders([owner!, ...others]), 1)
  }
})

t.test('an upgrade ends what it replaces, along the whole chain, and keeps its account', async (t) => {
  const ana = await givenAccount()
  const first = play.buy({ productId: 'plus', accountToken: await tokenOf(ana) })
  await sendGoogle(ana, first)
  const second = play.buy({ productId: 'premium', linkedToken: first })
  const third = play.buy({ productId: 'premium_yearly', linkedToken: second, days: 365 })
  await push(third)
  t.match(await subscriptionOf(ana), { planId: 'premium' })
  const rows = await db.selectFrom('purchases').where('account_id', '=', ana.id).orderBy('id')
    .select(['product_id', 'is_replaced']).execute()
  t.same(rows, [{ product_id: 'plus', is_replaced: true }, { product_id: 'premium_yearly', is_replaced: false }])
  const eve = await givenAccount()
  Object.assign(play.find(second), { state: 'ACTIVE', expiresAt: Date.now() + 1e9 })
  await sendGoogle(eve, second)
  t.equal(await holders([eve]), 0, 'what was replaced before it was known unlocks nothing')
  await checkDue(deps, silentLog)
  t.match(await subscriptionOf(ana), { status: 'ACTIVE' })
})

t.test('an upgrade that is not paid replaces nothing', async (t) => {
  const ana = await givenAccount()
  const first = play.buy({ productId: 'plus', accountToken: await tokenOf(ana) })
  await sendGoogle(ana, first)
  const second = play.buy({ productId: 'premium', linkedToken: first, state: 'PENDING' })
  Object.assign(play.find(first), { state: 'ACTIVE', autoRenews: true, expiresAt: Date.now() + 1e9 })
  for (const state of ['PENDING', 'PENDING_PURCHASE_CANCELED'] as const) {
    play.set(second, state)
    await push(second)
    t.match(await subscriptionOf(ana), { planId: 'plus', status: 'ACTIVE' })
  }
  play.set(second, 'ACTIVE')
  await push(second)
  t.match(await subscriptionOf(ana), { planId: 'premium', status: 'ACTIVE' })
})

t.test('a token with a space is no other purchase', async (t) => {
  const [ana, eve] = [await givenAccount(), await givenAccount()]
  const token = play.buy({ productId: 'premium' })
  await sendGoogle(ana, token)
  t.match(await sendGoogle(eve, ` ${token}`), { status: 400, code: 'INVALID_PURCHASE' })
})

t.test('two stores that bill at once are said, and the longer one counts', async (t) => {
  const ana = await givenAccount()
  await sendApple(ana, appStore.buy({ productId: 'plus.monthly', accountToken: await tokenOf(ana) }))
  await sendGoogle(ana, play.buy({ productId: 'premium', accountToken: await tokenOf(ana), days: 60 }))
  t.match(await subscriptionOf(ana), { planId: 'premium', store: 'GOOGLE' })
  t.same(await noticesOf(ana), ['BEGUN', 'BEGUN', 'BILLED_TWICE'])
})

t.test('a sandbox counts for accounts that an operator marked', async (t) => {
  const [ana, reviewer] = [await givenAccount(), await givenAccount()]
  await db.updateTable('accounts').set({ uses_sandbox: true }).where('id', '=', reviewer.id).execute()
  const buy = async (account: Account) =>
    appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account), environment: 'Sandbox' })
  t.match(await sendApple(ana, await buy(ana)), { status: 400, code: 'INVALID_PURCHASE' })
  t.match(await sendApple(reviewer, await buy(reviewer)), {
    status: 200,
    data: { subscription: { isSandbox: true, status: 'ACTIVE' } }
  })
  const test = play.buy({ productId: 'premium', accountToken: await tokenOf(ana), isTest: true })
  t.match(await sendGoogle(ana, test), { status: 400, code: 'INVALID_PURCHASE' })

  await notify(await buy(ana))
  t.equal(await subscriptionOf(ana), null)
})

t.test('a family shares a purchase, each member with one of their own', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  for (const account of [ana, ben]) {
    const id = appStore.buy({ productId: 'premium.monthly', isFamilyShared: true })
    t.match(await sendApple(account, id), { data: { subscription: { isFamilyShared: true, status: 'ACTIVE' } } })
  }
  const alone = await testApp(t, {
    createStores: async () => stores,
    subscriptions: { ...subscriptions, familySharing: false },
    clock: clock.now
  })
  const cleo = await alone.givenAccount()
  const answer = await alone.post('/subscription/purchases', {
    store: 'APPLE',
    signedTransaction: await appStore.signTransaction(
      appStore.buy({ productId: 'premium.monthly', isFamilyShared: true })
    )
  }, { as: cleo })
  t.match(answer, { status: 400, code: 'INVALID_PURCHASE' })
  t.match(await alone.db.selectFrom('purchases').select('account_id').execute(), [{ account_id: null }])
})

t.test('after 30 refused purchases everything is refused until the day is over', async (t) => {
  const ana = await givenAccount()
  const garbage = async () =>
    await post('/subscription/purchases', { store: 'APPLE', signedTransaction: 'garbage' }, { as: ana })
  const { tally } = await inParallel(40, garbage)
  t.same(tally, { '400 INVALID_PURCHASE': 30, '429 LIMIT_EXCEEDED': 10 })
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  t.match(await sendApple(ana, id), { status: 429, code: 'LIMIT_EXCEEDED' })
  clock.advance(24)
  t.match(await sendApple(ana, id), { status: 200 })
})

t.test('a store that does not answer refuses nobody for good', async (t) => {
  const ana = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(ana) })
  Object.assign(play.state, { hangs: true })
  Object.assign(appStore.state, { isAway: true })
  const sent = sendGoogle(ana, token)
  t.ok(await endsWithin(3_500, sent), 'within the time of a request')
  t.match(await sent, { status: 503, code: 'SERVICE_UNAVAILABLE' })
  t.match(await sendApple(ana, id), { status: 200 }, 'Apple is not needed for what it signed')
  Object.assign(play.state, { hangs: false })
  Object.assign(appStore.state, { isAway: false })
  t.match(await sendGoogle(ana, token), { status: 200 })

  const fresh = await testApp(t, { createStores: async () => await create(), subscriptions, clock: clock.now })
  Object.assign(appStore.state, { isOcspAway: true })
  const answer = await fresh.post('/subscription/purchases', {
    store: 'APPLE',
    signedTransaction: await appStore.signTransaction(id)
  }, { as: await fresh.givenAccount() })
  t.match(answer, { status: 503, code: 'SERVICE_UNAVAILABLE' }, 'whether a certificate is revoked is not known')
  Object.assign(appStore.state, { isOcspAway: false })
})

t.test('what a deleted account bought has no account, and its owner can use it in another one', async (t) => {
  const [ana, again] = [await givenAccount(), await givenAccount()]
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(ana) })
  await sendApple(ana, id)
  await db.transaction().execute(async (trx) => {
    await disownPurchases(trx, ana.id)
    await eraseAccount(trx, ana.id)
  })
  t.match(await sendApple(again, id), { status: 200, data: { subscription: { status: 'ACTIVE' } } })
})

t.test('what nobody has restored half a year after its end is deleted', async (t) => {
  const ana = await givenAccount()
  const [owned, old, recent] = Array.from({ length: 3 }, () => appStore.buy({ productId: 'premium.monthly' }))
  await sendApple(ana, owned!)
  await notify(old!)
  await notify(recent!)
  const endedDaysAgo = async (id: string, days: number) =>
    await db.updateTable('purchases').set({ period_end: new Date(Date.now() - days * 24 * 60 * 60 * 1_000) })
      .where('store_key', '=', id).execute()
  for (const id of [owned!, old!]) await endedDaysAgo(id, 181)
  await endedDaysAgo(recent!, 179)
  await runHousekeeping(db)
  const left = await db.selectFrom('purchases').where('store_key', 'in', [owned!, old!, recent!]).select('store_key')
    .execute()
  t.strictSame(new Set(left.map(({ store_key }) => store_key)), new Set([owned, recent]))
})
