import t from 'tap'
import { lockAccount } from '../accounts/queries.ts'
import { checkDue } from '../purchases/checks.ts'
import { silentLog } from '@tandem/http-kit/testing'
import { testPurchases } from '../test/purchases.ts'
import { runCommand } from './commands.ts'

const {
  appStore,
  play,
  db,
  deps,
  get,
  post,
  asOperator,
  givenAccount,
  tokenOf,
  subscriptionOf,
  sendApple,
  sendGoogle
} = await testPurchases(t)
const operate = async (...args: string[]) => await runCommand(db, { subscriptions: deps.subscriptions }, args)

async function givenSubscriber () {
  const account = await givenAccount()
  const accountToken = await tokenOf(account)
  const id = appStore.buy({ productId: 'premium.monthly', accountToken })
  await sendApple(account, id)
  return { account, id, accountToken }
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
    grants: [{ isChosen: true, givenBy: String }]
  })
  t.match(await post(`${path}/take`, { reason: 'a mistake' }, { headers }), { status: 200 })
  t.match(await read(), { subscription: { status: 'CANCELED' } })
})

t.test('support sees that a purchase has moved, and from which store it was', async (t) => {
  const [{ account, id }, other] = [await givenSubscriber(), await givenAccount()]
  t.match(await sendApple(other, id, { transfer: true }), { status: 200 })
  const path = `/operator/people/${account.id}/subscription?reason=case`
  t.match((await get(path, { headers: await asOperator('SUPPORT') })).data, {
    subscription: { status: 'CANCELED', store: 'APPLE', state: 'REVOKED' },
    purchases: [{ store: 'APPLE', isMoved: true, isChosen: false, moves: 1 }]
  })
})

t.test('a recheck does not wait for a purchase that is being recorded', async (t) => {
  const { account } = await givenSubscriber()
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('purchases').where('account_id', '=', account.id).select('id').forUpdate().execute()
    t.match(await operate('subscriptions', 'recheck', account.email), /asked about 0 purchases/)
    t.ok(await lockAccount(trx, { id: account.id }))
  })
})

t.test('support finds a person by the order id of a store', async (t) => {
  const account = await givenAccount()
  const purchaseToken = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  await sendGoogle(account, purchaseToken)
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
  t.match(await sendApple(account, sandbox), { status: 400 })
  await operate('mark', 'sandbox', account.email)
  t.match(await sendApple(account, sandbox), { status: 200, data: { subscription: { isSandbox: true } } })
  await operate('mark', 'sandbox', account.email, 'off')
  t.match(await subscriptionOf(account), { status: 'CANCELED' })
  const kinds = await db.selectFrom('security_events').where('account_id', '=', account.id).select('kind').orderBy('id')
    .execute()
  t.match(kinds.map(({ kind }) => kind).slice(-3), ['PURCHASES_RECHECKED', 'SANDBOX_MARKED', 'SANDBOX_MARKED'])
})
