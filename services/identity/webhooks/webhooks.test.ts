import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { sql } from 'kysely'
import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { until } from '@tandem/test-kit'
import { eraseAccount } from '../erasures/stub.ts'
import { recheckPurchases } from '../operator/actions.ts'
import { checkDue } from '../purchases/checks.ts'
import { disownPurchases } from '../purchases/disown.ts'
import { testApp } from '../test/app.ts'
import { createChain } from '../test/certificates.ts'
import { testPurchases } from '../test/purchases.ts'

const {
  appStore,
  play,
  revenueCat,
  clock,
  db,
  deps,
  post,
  givenAccount,
  publishedEvents,
  allHandled,
  runChecks,
  tokenOf,
  subscriptionOf
} = await testPurchases(t)

type Account = Awaited<ReturnType<typeof givenAccount>>

const DAY_MS = 24 * 60 * 60 * 1_000

const storedRows = async () => ({
  purchases: (await db.selectFrom('purchases').select('id').execute()).length,
  notifications: (await db.selectFrom('store_notifications').select('id').execute()).length
})
const typesOf = async (account: Account) =>
  (await publishedEvents(account.id)).map(({ type }) => String(type)).filter((type) => type.startsWith('subscription'))
t.test('what Apple did not sign for this app is refused, and leaves nothing', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  const { root, intermediate, leaf } = appStore.chain
  const ocspUrl = `${appStore.url}/ocsp`
  const ownRoot = createChain({ ocspUrl })
  const withoutOid = createChain({ ocspUrl, root, hasLeafOid: false })
  const expired = createChain({ ocspUrl, root, leafValidUntil: new Date(Date.now() - DAY_MS) })
  const revoked = createChain({ ocspUrl, root })
  appStore.chains.push(ownRoot, withoutOid, expired, revoked)
  appStore.revoked.add(revoked.leaf)
  const unsigned = (header: object, payload: object, signature = '') =>
    [header, payload].map((each) => Buffer.from(JSON.stringify(each)).toString('base64url')).join('.') + `.${signature}`
  const [, body = ''] = (await appStore.signTransaction(id)).split('.')
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as object
  const x5c = [leaf, intermediate, root].map(({ base64 }) => base64)
  const [header = '', , signature = ''] = (await appStore.signTransaction(id)).split('.')
  const hmac = (text: string) => createHmac('sha256', leaf.pem).update(text).digest('base64url')
  const unsignedText = unsigned({ alg: 'HS256', x5c }, payload).slice(0, -1)

  const forgeries: Record<string, string> = {
    'its own root': await appStore.signTransaction(id, {}, { chain: ownRoot }),
    'two certificates': await appStore.signTransaction(id, {}, { certificates: [leaf, intermediate] }),
    'four certificates': await appStore.signTransaction(id, {}, { certificates: [leaf, intermediate, root, root] }),
    'no certificate': await appStore.signTransaction(id, {}, { certificates: [] }),
    'a leaf without the OID of the App Store': await appStore.signTransaction(id, {}, { chain: withoutOid }),
    'an expired leaf': await appStore.signTransaction(id, {}, { chain: expired }),
    'a revoked leaf': await appStore.signTransaction(id, {}, { chain: revoked }),
    'the certificates of another signer': await appStore.signTransaction(id, {}, {
      chain: ownRoot,
      certificates: [leaf, intermediate, root]
    }),
    'another bundle': await appStore.signTransaction(id, { bundleId: 'com.example.other' }),
    'another environment': await appStore.signTransaction(id, { environment: 'LocalTesting' }),
    'the environment Xcode, unsigned': unsigned({ alg: 'none' }, { ...payload, environment: 'Xcode' }),
    'the algorithm none': unsigned({ alg: 'none', x5c }, payload),
    'HS256 with the certificate as its secret': `${unsignedText}.${hmac(unsignedText)}`,
    'a changed payload': `${header}.${
      Buffer.from(JSON.stringify({ ...payload, expiresDate: Date.now() + 999 * DAY_MS })).toString('base64url')
    }.${signature}`,
    'an unknown product': await appStore.signTransaction(id, { productId: 'gold.monthly' }),
    'something else than a subscription': await appStore.signTransaction(id, { type: 'Consumable' }),
    'no token at all': 'garbage'
  }
  const before = await storedRows()
  for (const [name, signedTransaction] of Object.entries(forgeries)) {
    const send = async () =>
      await post('/subscription/purchases', { store: 'APPLE', signedTransaction }, { as: account })
    let answer = await send()
    // A busy machine asks too slowly whether a certificate is revoked.
    while (answer.status === 503) answer = await send()
    t.match(answer, { status: 400, code: 'INVALID_PURCHASE' }, name)
  }
  const notifications: Record<string, string> = {
    'its own root': await appStore.signNotification(id, { signing: { chain: ownRoot } }),
    'another app': await appStore.signNotification(id, { data: { appAppleId: 1 } }),
    'another bundle': await appStore.signNotification(id, { data: { bundleId: 'com.example.other' } }),
    'a transaction that somebody else signed': await appStore.signNotification(id, {
      data: { signedTransactionInfo: await appStore.signTransaction(id, {}, { chain: ownRoot }) }
    }),
    'no token at all': 'garbage'
  }
  for (const [name, signedPayload] of Object.entries(notifications)) {
    t.match(await post('/webhooks/app-store', { signedPayload }), { status: 400, code: 'INVALID_PURCHASE' }, name)
  }
  t.same(await storedRows(), before)
  t.equal(await subscriptionOf(account), null)
  t.same(await typesOf(account), [])
})

t.test('a push that Google did not sign for us is refused, and leaves nothing', async (t) => {
  const token = play.buy({ productId: 'premium' })
  const notification = { subscriptionNotification: { purchaseToken: token } }
  const { body, headers } = await play.createPush(notification)
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const forged = await new SignJWT({ email: play.push.email, email_verified: true })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' }).setIssuer('https://accounts.google.com')
    .setAudience(play.push.audience).setExpirationTime('5m').sign(stranger.privateKey)
  const pushes: Record<string, Record<string, string>> = {
    'no token': {},
    'another audience': (await play.createPush(notification, { claims: { aud: 'https://other.example' } })).headers,
    'another address': (await play.createPush(notification, { claims: { email: 'eve@example.com' } })).headers,
    'an address that is not verified':
      (await play.createPush(notification, { claims: { email_verified: false } })).headers,
    'another issuer': (await play.createPush(notification, { claims: { iss: 'https://eve.example' } })).headers,
    'an expired one': (await play.createPush(notification, { expiresInSeconds: -60 })).headers,
    'another key': { authorization: `Bearer ${forged}` }
  }
  const before = await storedRows()
  for (const [name, given] of Object.entries(pushes)) {
    t.match(await post('/webhooks/google-play', body, { headers: given }), {
      status: 401,
      code: 'INVALID_ACCESS_TOKEN'
    }, name)
  }
  const other = await play.createPush(notification, { packageName: 'com.example.other' })
  t.match(
    await post('/webhooks/google-play', other.body, { headers: other.headers }),
    { status: 200 },
    'another package'
  )
  const test = await play.createPush({ testNotification: { version: '1.0' } })
  t.match(await post('/webhooks/google-play', test.body, { headers: test.headers }), { status: 200 }, 'a test')
  t.same(await storedRows(), before)
  t.match(await post('/webhooks/google-play', {}, { headers }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('an event of RevenueCat makes us ask, and a transfer moves what it sold', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const [anas, bens] = [await tokenOf(ana), await tokenOf(ben)]
  const send = async (fields: object, options = {}) => {
    const { body, headers } = revenueCat.createEvent(fields, options)
    return await post('/webhooks/revenuecat', body, { headers })
  }
  t.match(await send({ app_user_id: anas }, { authorization: 'Bearer guessed' }), {
    status: 401,
    code: 'INVALID_ACCESS_TOKEN'
  })
  revenueCat.buy(anas, { productId: 'premium_rc' })
  t.match(await send({ app_user_id: anas }), { status: 200, success: true })
  await allHandled()
  t.match(await subscriptionOf(ana), { status: 'ACTIVE', store: 'REVENUECAT', planId: 'premium', manageUrl: /apple/ })

  revenueCat.transfer(anas, bens)
  t.match(await send({ type: 'TRANSFER', transferred_from: [anas], transferred_to: [bens] }), { status: 200 })
  await allHandled()
  t.match(await subscriptionOf(ana), { status: 'EXPIRED', state: 'EXPIRED' })
  t.match(await subscriptionOf(ben), { status: 'ACTIVE', state: 'ACTIVE' })

  revenueCat.change(bens, { refunded_at: clock.now().toISOString() })
  await send({ app_user_id: '$RCAnonymousID:87c6049c58069238dce29853916d624c', aliases: [bens] })
  await allHandled()
  t.match(await subscriptionOf(ben), { status: 'CANCELED', state: 'REVOKED' })
  t.match(await send({ app_user_id: 'anonymous' }), { status: 200 }, 'nobody here')

  const cleo = await givenAccount()
  const cleos = await tokenOf(cleo)
  revenueCat.buy(cleos, { productId: 'premium_rc', isSandbox: true })
  await send({ app_user_id: cleos })
  await allHandled()
  t.equal(await subscriptionOf(cleo), null, 'of a sandbox, which does not count for the account')
})

t.test('what RevenueCat says of several purchases is recorded one by one, so that recordings never deadlock', async (t) => {
  const ana = await givenAccount()
  const anas = await tokenOf(ana)
  revenueCat.buy(anas, { productId: 'premium_rc_yearly', days: 365 })
  revenueCat.buy(anas, { productId: 'premium_rc', isSandbox: true })
  const send = async () => {
    const { body, headers } = revenueCat.createEvent({ app_user_id: anas })
    t.match(await post('/webhooks/revenuecat', body, { headers }), { status: 200 })
  }
  await send()
  await allHandled()
  await db.transaction().execute(async (trx) => {
    // As another recording, which locks a purchase and then its account.
    await trx.selectFrom('purchases').where('store_key', '=', anas).where('environment', '=', 'SANDBOX').select('id')
      .forUpdate().execute()
    await send()
    await until(async () => {
      const { rows } = await sql`
        select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(trx)
      return rows.length > 0
    })
    const free = await trx.selectFrom('accounts').where('id', '=', ana.id).select('id').forUpdate().skipLocked()
      .execute()
    t.equal(free.length, 1, 'who waits for a purchase holds no account')
  })
  await allHandled()
  t.match(await subscriptionOf(ana), { status: 'ACTIVE' })
})

t.test('an answer of RevenueCat that does not name the person ends nothing', async (t) => {
  const ana = await givenAccount()
  const anas = await tokenOf(ana)
  const { body, headers } = revenueCat.createEvent({ app_user_id: anas })
  revenueCat.buy(anas, { productId: 'premium_rc' })
  await post('/webhooks/revenuecat', body, { headers })
  await allHandled()
  revenueCat.state.isEmpty = true
  await recheckPurchases(db, { id: ana.id })
  await checkDue(deps, silentLog)
  revenueCat.state.isEmpty = false
  t.match(await subscriptionOf(ana), { status: 'ACTIVE' })
})

t.test('of what RevenueCat sold to a deleted account nothing is left, and nothing comes back', async (t) => {
  const account = await givenAccount()
  const token = await tokenOf(account)
  revenueCat.buy(token, { productId: 'premium_rc' })
  const send = async () => {
    const { body, headers } = revenueCat.createEvent({ app_user_id: token })
    t.match(await post('/webhooks/revenuecat', body, { headers }), { status: 200 })
    await allHandled()
    return await db.selectFrom('purchases').where('store_key', '=', token).select('account_id').execute()
  }
  t.same(await send(), [{ account_id: account.id }])
  await db.transaction().execute(async (trx) => {
    t.equal(await disownPurchases(trx, account.id), 1)
    await eraseAccount(trx, account.id)
  })
  t.same(await send(), [], 'RevenueCat renews it, and knows the account by its token')
})

t.test('of two paid subscriptions of RevenueCat the one that unlocks more counts, also if it ends sooner', async (t) => {
  const account = await givenAccount()
  const token = await tokenOf(account)
  revenueCat.buy(token, { productId: 'plus_rc_yearly', days: 365 })
  revenueCat.buy(token, { productId: 'premium_rc' })
  const { body, headers } = revenueCat.createEvent({ app_user_id: token })
  await post('/webhooks/revenuecat', body, { headers })
  await allHandled()
  t.match(await subscriptionOf(account), { planId: 'premium', status: 'ACTIVE' })
  clock.advance(31 * 24)
  revenueCat.expire(token, 'premium_rc')
  await runChecks()
  t.match(await subscriptionOf(account), { planId: 'plus', status: 'ACTIVE' })
})

t.test('of two subscriptions of RevenueCat the paid one counts, also if a refunded one would last longer', async (t) => {
  const ana = await givenAccount()
  const anas = await tokenOf(ana)
  revenueCat.buy(anas, { productId: 'premium_rc_yearly', days: 365 })
  revenueCat.change(anas, { refunded_at: clock.now().toISOString() })
  revenueCat.buy(anas, { productId: 'premium_rc' })
  const { body, headers } = revenueCat.createEvent({ app_user_id: anas })
  await post('/webhooks/revenuecat', body, { headers })
  await allHandled()
  t.match(await subscriptionOf(ana), { status: 'ACTIVE', state: 'ACTIVE' })
})

t.test('a notification about no subscription is accepted, and has no effect', async (t) => {
  const { purchases } = await storedRows()
  const data = { bundleId: appStore.bundleId, appAppleId: appStore.appId, environment: 'Production' }
  for (const notificationType of ['TEST', 'CONSUMPTION_REQUEST', 'A_NEW_ONE']) {
    const signedPayload = await appStore.sign({
      notificationType,
      notificationUUID: randomUUID(),
      version: '2.0',
      signedDate: Date.now(),
      data
    })
    t.match(await post('/webhooks/app-store', { signedPayload }), { status: 200, success: true }, notificationType)
  }
  t.equal((await storedRows()).purchases, purchases)
})

t.test('a store that is not set up has no webhook', async (t) => {
  const { post: send } = await testApp(t)
  const { body, headers } = await play.createPush({})
  t.match(await send('/webhooks/google-play', body, { headers }), { status: 404 })
  t.match(await send('/webhooks/app-store', { signedPayload: 'x' }), { status: 404 })
  t.match(await send('/webhooks/revenuecat', { event: { id: '1' } }), { status: 404 })
})

t.test('of 50 copies of a notification one has an effect', async (t) => {
  const account = await givenAccount()
  const id = appStore.buy({ productId: 'premium.monthly', accountToken: await tokenOf(account) })
  const signedPayload = await appStore.signNotification(id, { uuid: randomUUID() })
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => await post('/webhooks/app-store', { signedPayload }))
  )
  t.ok(answers.every(({ status }) => status === 200))
  await allHandled()
  t.same(await typesOf(account), ['subscription.changed', 'subscription.notice'])

  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(await givenAccount()) })
  const { body, headers } = await play.createPush({ subscriptionNotification: { purchaseToken: token } })
  await Promise.all(Array.from({ length: 50 }, async () => await post('/webhooks/google-play', body, { headers })))
  t.equal(
    (await db.selectFrom('store_notifications').where('notification_id', '=', body.message.messageId).select('id')
      .execute())
      .length,
    1
  )
  await allHandled()
})

t.test('a push is handled once its store answers again', async (t) => {
  const account = await givenAccount()
  const token = play.buy({ productId: 'premium', accountToken: await tokenOf(account) })
  play.state.isAway = true
  const { body, headers } = await play.createPush({ subscriptionNotification: { purchaseToken: token } })
  t.match(await post('/webhooks/google-play', body, { headers }), { status: 200 })
  const calls = play.state.calls
  await until(() => play.state.calls > calls)
  t.equal(await subscriptionOf(account), null)
  play.state.isAway = false
  await until(async () => (await subscriptionOf(account))?.status === 'ACTIVE')
  const rows = await db.selectFrom('store_notifications').select(['encrypted_content', 'done_at'])
    .where('notification_id', '=', body.message.messageId).execute()
  t.match(rows, [{ encrypted_content: null, done_at: Date }], 'the token is forgotten')
})
