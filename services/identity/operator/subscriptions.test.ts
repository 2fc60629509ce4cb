import t from 'tap'
import { checkDue } from '../purchases/checks.ts'
import { silentLog } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'
import { startStores, subscriptions } from '../test/stores.ts'
import { runCommand } from './commands.ts'

const stores = await startStores(t, { clock: () => new Date() })
const { appStore, play } = stores
const { db, deps, get, post, asOperator, givenAccount } = await testApp(t, {
  createStores: async () => await stores.create(),
  subscriptions
})
const operate = async (...args: string[]) => await runCommand(db, { subscriptions: deps.subscriptions }, args)

async function givenSubscriber () {
  const account = await givenAccount()
  const { accountToken } = (await get('/subscription/plans', { as: account })).data
  const id = appStore.buy({ productId: 'premium.monthly', accountToken })
  const signedTransaction = await appStore.signTransaction(id)
  await post('/subscription/purchases', { store: 'APPLE', signedTransaction }, { as: account })
  return { account, id, accountToken: accountToken as string }
}

t.test('support sees what a subscription is derived from, and has the store asked', async (t) => {
  const { account, id } = await givenSubscriber()
  const headers = await asOperator('SUPPORT')
  const path = `/operator/people/${account.id}/subscription`
  const read = async () => (await get(`${path}?reason=case`, { headers })).data
  t.match(await read(), {
    usesSandbox: false,
    subscription: { planId: 'premium', status: 'ACTIVE' },
    purchases: [{ store: 'APPLE', productId: 'premium.monthly', state: 'ACTIVE', isChosen: true }],
    grants: [],
    plans: ['premium', 'plus']
  })
  t.notMatch(JSON.stringify(await read()), id, 'without the id of the transaction')
  appStore.refund(id)
  t.match(await post(`${path}/recheck`, { reason: 'case 7' }, { headers }), { status: 200 })
  await checkDue(deps, silentLog)
  t.match(await read(), { subscription: { status: 'CANCELED' }, purchases: [{ state: 'REVOKED' }] })

  t.match(await get(`${path}?reason=case`, { headers: await asOperator('MODERATOR') }), { status: 403 })
  const grant = { planId: 'plus', days: 30, reason: 'an apology' }
  const unproved = await asOperator('SUPPORT', { provedSecondsAgo: 3_600 })
  t.match(await post(`${path}/grant`, grant, { headers: unproved }), { status: 403, code: 'PROOF_REQUIRED' })
  t.match(await post(`${path}/grant`, grant, { headers }), { status: 200 })
  t.match(await read(), {
    subscription: { planId: 'plus', status: 'ACTIVE', store: 'OPERATOR' },
    grants: [{ isChosen: true }]
  })
  t.match(await post(`${path}/take`, { reason: 'a mistake' }, { headers }), { status: 200 })
  t.match(await read(), { subscription: { status: 'CANCELED' } })
})

t.test('support finds a person by the order id of a store', async (t) => {
  const account = await givenAccount()
  const { accountToken } = (await get('/subscription/plans', { as: account })).data
  const purchaseToken = play.buy({ productId: 'premium', accountToken })
  await post('/subscription/purchases', { store: 'GOOGLE', purchaseToken }, { as: account })
  const find = async (q: string) =>
    await post('/operator/people/search', { q, reason: 'a letter' }, { headers: await asOperator('SUPPORT') })
  t.match(await find(play.find(purchaseToken).orderId), { status: 200, data: { accountId: account.id } })
  t.match(await find('GPA.1234-5678'), { status: 404, code: 'USER_NOT_FOUND' })
})

t.test('the shell lists, rechecks and marks', async (t) => {
  const { account, id, accountToken } = await givenSubscriber()
  t.match(await operate('subscriptions', 'list', account.email), [{ from: 'APPLE', planId: 'premium', counts: true }])
  appStore.refund(id)
  t.match(await operate('subscriptions', 'recheck', account.email), /asked about 1 purchases/)
  await checkDue(deps, silentLog)
  t.match(await operate('subscriptions', 'list', account.email), [{ state: 'REVOKED' }])

  const sandbox = appStore.buy({ productId: 'premium.monthly', accountToken, environment: 'Sandbox' })
  const send = async () =>
    await post('/subscription/purchases', {
      store: 'APPLE',
      signedTransaction: await appStore.signTransaction(sandbox)
    }, { as: account })
  t.match(await send(), { status: 400 })
  await operate('mark', 'sandbox', account.email)
  t.match(await send(), { status: 200, data: { subscription: { isSandbox: true } } })
  await operate('mark', 'sandbox', account.email, 'off')
  t.match((await get('/subscription', { as: account })).data.subscription, { status: 'CANCELED' })
  const kinds = await db.selectFrom('security_events').where('account_id', '=', account.id).select('kind').orderBy('id')
    .execute()
  t.match(kinds.map(({ kind }) => kind).slice(-3), ['PURCHASES_RECHECKED', 'SANDBOX_MARKED', 'SANDBOX_MARKED'])
})
