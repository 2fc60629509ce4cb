// Buys from stand-ins of the three stores, as apps do. After the last free swipe, the very next one has to pass once the
// app has sent its purchase, and within a second if only the store says so. Each state is read where people meet it. Then
// the stores send RATE notifications a second, and people sign in beside as many renewals as 10,000 cause in an hour.
// `npm run rehearse purchases -- 20 50` sends 50 a second for 20 seconds, instead of 200 a second for a minute.
import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { runConcurrently } from '@tandem/test-kit'
import { Agent, request } from 'undici'
import { startStores } from '../../services/identity/test/stores.ts'
import { check, haveAllPassed } from './kit/checks.ts'
import { call, type RequestFailed } from './kit/call.ts'
import { pace } from './kit/pace.ts'
import { percentile } from './kit/percentile.ts'
import { settle, type Person } from './kit/settled-people.ts'
import { urlOfSchema, withStack, type Stack } from './kit/stack.ts'
import { withTeardown } from './kit/teardown.ts'

const SECONDS = Number(process.argv[2] ?? 60)
const RATE = Number(process.argv[3] ?? 200)
const MAX_P99_MS = 500
const MAX_WEBHOOK_MS = 1_000
const FREE_SWIPES = 10
// Webhooks are limited to 600 a minute for each client, and sign-ins to fewer: they come from many addresses.
const CLIENTS = 100
const RENEWALS_PER_SECOND = 10_000 / 3_600
const SIGN_INS_PER_SECOND = 2

type Stores = Awaited<ReturnType<typeof startStores>>
/** A request of a store to its webhook. */
interface Notification {
  path: string
  headers?: Record<string, string>
  body: object
}

const rehearse = async () =>
  await withTeardown(async (t) => {
    const stores = await startStores(t, { clock: () => new Date() })
    await withStack(async (stack) => {
      const people = await runConcurrently(
        Array.from({ length: FREE_SWIPES + 2 }, (_, number) => async () => await settle(stack, `person${number}`))
      )
      const profiles = new Map(
        await runConcurrently(people.map((person) => async () => [person, await profileOf(person)] as const))
      )
      for (const [index, way] of ways.entries()) {
        const buyer = people[index]!
        const others = people.filter((each) => each !== buyer).map((each) => profiles.get(each)!)
        await buyAfterTheLastSwipe(stack, stores, { buyer, others, ...way })
      }
      await readEachState(stack, stores, people)

      const notifications = await prepareNotifications(stack, stores, RATE * SECONDS)
      report(`${RATE} notifications a second`, await sendAtRate(stack, notifications, RATE), MAX_P99_MS)
      await waitUntilHandled(stack)

      const seconds = Math.min(SECONDS, 30)
      report('sign-ins alone', await signIn(stack, people, seconds))
      const renewals = await prepareNotifications(stack, stores, Math.round(RENEWALS_PER_SECOND * seconds))
      const [besides] = await Promise.all([
        signIn(stack, people, seconds),
        sendAtRate(stack, renewals, RENEWALS_PER_SECOND)
      ])
      report('sign-ins beside 10,000 renewals an hour', besides)
    }, { ...stores.variables, TRUST_PROXY: '127.0.0.1' })
  })

interface Way {
  name: string
  /** Buys, and returns what the app sends then, … */
  buy?: (stores: Stores, accountToken: string) => Promise<object>
  /** … or what only the store sends. */
  notify?: (stores: Stores, accountToken: string) => Promise<Notification>
}

const [APPLE_PRODUCT, PLAY_PRODUCT, REVENUECAT_PRODUCT] = ['premium.monthly', 'premium', 'premium_rc']
const ways: Way[] = [
  {
    name: 'the app sends a purchase of the App Store',
    buy: async ({ appStore }, accountToken) => ({
      store: 'APPLE',
      signedTransaction: await appStore.signTransaction(appStore.buy({ productId: APPLE_PRODUCT, accountToken }))
    })
  },
  {
    name: 'the app sends a purchase of Google Play',
    buy: async ({ play }, accountToken) => ({
      store: 'GOOGLE',
      purchaseToken: play.buy({ productId: PLAY_PRODUCT, accountToken })
    })
  },
  {
    name: 'the App Store notifies',
    notify: async ({ appStore }, accountToken) =>
      await notificationOfApple({ appStore }, appStore.buy({ productId: APPLE_PRODUCT, accountToken }))
  },
  {
    name: 'Google Play notifies',
    notify: async ({ play }, accountToken) =>
      await notificationOfGoogle({ play }, play.buy({ productId: PLAY_PRODUCT, accountToken }))
  },
  {
    name: 'RevenueCat notifies',
    notify: async ({ revenueCat }, accountToken) => {
      revenueCat.buy(accountToken, { productId: REVENUECAT_PRODUCT })
      return { path: 'revenuecat', ...revenueCat.createEvent({ app_user_id: accountToken }) }
    }
  }
]

const notificationOfApple = async ({ appStore }: Pick<Stores, 'appStore'>, id: string): Promise<Notification> => ({
  path: 'app-store',
  body: { signedPayload: await appStore.signNotification(id) }
})
const notificationOfGoogle = async ({ play }: Pick<Stores, 'play'>, purchaseToken: string): Promise<Notification> => ({
  path: 'google-play',
  ...await play.createPush({ subscriptionNotification: { purchaseToken } })
})

const profileOf = async ({ send }: Person) => (await send<{ data: { id: string } }>('GET', '/fitmatch/profile')).data.id
const accountTokenOf = async ({ send }: Person) =>
  (await send<{ data: { accountToken: string } }>('GET', '/subscription/plans')).data.accountToken

async function buyAfterTheLastSwipe (
  stack: Stack,
  stores: Stores,
  { name, buyer, others, buy, notify }: Way & { buyer: Person, others: string[] }
) {
  const swipe = async (targetProfileId: string | undefined) =>
    await call(stack, 'POST', '/fitmatch/swipe', {
      token: buyer.token,
      body: { targetProfileId, swipeType: 'LIKE' }
    }).then(() => 200, (error: RequestFailed) => error.status)
  for (const other of others.slice(0, FREE_SWIPES)) await swipe(other)
  check(await swipe(others[FREE_SWIPES]) === 429, `${name}: before it, swipe ${FREE_SWIPES + 1} is refused`)
  const accountToken = await accountTokenOf(buyer)
  if (buy) {
    const body = await buy(stores, accountToken)
    const startedAt = performance.now()
    await buyer.send('POST', '/subscription/purchases', body)
    const ms = Math.round(performance.now() - startedAt)
    check(await swipe(others[FREE_SWIPES]) === 200, `${name}: the very next swipe passes; it took ${ms} ms`)
  }
  if (notify) {
    const notification = await notify(stores, accountToken)
    const startedAt = performance.now()
    await post(stack, notification)
    while (await swipe(others[FREE_SWIPES]) !== 200) await sleep(20)
    const ms = Math.round(performance.now() - startedAt)
    check(ms <= MAX_WEBHOOK_MS, `${name}: a swipe passes after ${ms} ms`)
  }
}

/** Leads one subscription of each store through its states. */
async function readEachState (stack: Stack, { appStore, play }: Stores, people: Person[]) {
  const [appleBuyer, googleBuyer] = [people.at(-1)!, people.at(-2)!]
  const id = appStore.buy({ productId: APPLE_PRODUCT, accountToken: await accountTokenOf(appleBuyer) })
  const fail = (graceDays?: number) => {
    appStore.endPeriod(id)
    appStore.failPayment(id, graceDays)
  }
  const states: [change: () => unknown, state: string, status: string][] = [
    [() => {}, 'ACTIVE', 'ACTIVE'],
    [() => appStore.setAutoRenew(id, false), 'ACTIVE', 'ACTIVE'],
    [() => fail(6), 'GRACE', 'ACTIVE'],
    [() => fail(), 'HOLD', 'EXPIRED'],
    [() => appStore.renew(id), 'ACTIVE', 'ACTIVE'],
    [() => appStore.refund(id), 'REVOKED', 'CANCELED'],
    [() => appStore.renew(id), 'ACTIVE', 'ACTIVE'],
    [() => (appStore.endPeriod(id), appStore.giveUp(id)), 'EXPIRED', 'EXPIRED']
  ]
  for (const [change, state, status] of states) {
    change()
    await post(stack, await notificationOfApple({ appStore }, id))
    await readState('App Store', appleBuyer, { state, status })
  }

  const token = play.buy({ productId: PLAY_PRODUCT, accountToken: await accountTokenOf(googleBuyer), state: 'PENDING' })
  const googleStates: [change: () => unknown, state: string, status: string][] = [
    [() => {}, 'PENDING', 'EXPIRED'],
    [() => play.set(token, 'ACTIVE'), 'ACTIVE', 'ACTIVE'],
    [() => play.set(token, 'CANCELED'), 'ACTIVE', 'ACTIVE'],
    [() => play.set(token, 'IN_GRACE_PERIOD'), 'GRACE', 'ACTIVE'],
    [() => play.set(token, 'ON_HOLD'), 'HOLD', 'EXPIRED'],
    [() => play.renew(token), 'ACTIVE', 'ACTIVE'],
    [() => play.set(token, 'PAUSED'), 'PAUSED', 'EXPIRED'],
    [() => play.set(token, 'EXPIRED'), 'EXPIRED', 'EXPIRED']
  ]
  for (const [change, state, status] of googleStates) {
    change()
    await post(stack, await notificationOfGoogle({ play }, token))
    await readState('Google Play', googleBuyer, { state, status })
  }
}

async function readState (store: string, { send }: Person, expected: { state: string, status: string }) {
  const isUnlimited = expected.status === 'ACTIVE'
  const startedAt = performance.now()
  let found = ''
  for (;;) {
    const { data: { subscription } } = await send<{ data: { subscription: { state: string, status: string } | null } }>(
      'GET',
      '/subscription'
    )
    const { user } = await send<{ user: { subscription: { status: string } | null } }>('GET', '/auth/me')
    const { data: { limits } } = await send<{ data: { limits: { unlimited: boolean } } }>(
      'GET',
      '/fitmatch/discover?limit=1'
    )
    found = `${subscription?.state} ${subscription?.status}, ${user.subscription?.status}, ${limits.unlimited}`
    // Nobody sees what is pending but its owner.
    const me = expected.state === 'PENDING' ? undefined : expected.status
    if (found === `${expected.state} ${expected.status}, ${me}, ${isUnlimited}`) break
    if (performance.now() - startedAt > 10 * MAX_WEBHOOK_MS) break
    await sleep(20)
  }
  const ms = Math.round(performance.now() - startedAt)
  check(ms <= MAX_WEBHOOK_MS, `${store}: ${found} after ${ms} ms (state and status, /auth/me, discover)`)
}

const agent = new Agent({ connections: 200 })
const clientAddress = () => `203.0.113.${Math.floor(Math.random() * CLIENTS)}`

async function post ({ gateway }: Stack, { path, headers, body }: Notification) {
  const response = await request(`${gateway.url}/api/mobile/v1/webhooks/${path}`, {
    method: 'POST',
    dispatcher: agent,
    headers: { ...headers, 'content-type': 'application/json', 'x-forwarded-for': clientAddress() },
    body: JSON.stringify(body)
  })
  await response.body.dump()
  return response.statusCode
}

/** Notifications of `count` purchases, each of another account, half of them of each of two stores. */
async function prepareNotifications (stack: Stack, { appStore, play }: Stores, count: number) {
  const accountTokens = await createAccounts(stack, count)
  const prepared: Notification[] = []
  for (const [number, accountToken] of accountTokens.entries()) {
    prepared.push(
      number % 2 === 0
        ? await notificationOfApple({ appStore }, appStore.buy({ productId: APPLE_PRODUCT, accountToken }))
        : await notificationOfGoogle({ play }, play.buy({ productId: PLAY_PRODUCT, accountToken }))
    )
  }
  return prepared
}

/** Accounts without anything but what a store needs. @returns their account tokens */
async function createAccounts (stack: Stack, count: number) {
  const database = new pg.Client(urlOfSchema(stack, 'identity'))
  await database.connect()
  const { rows } = await database.query<{ token: string }>(
    `insert into accounts (email, name, locale, registered_network, referral_code)
      select gen_random_uuid() || '@example.com', 'Buyer', 'en', '203.0.113.0/24', gen_random_uuid()
      from generate_series(1, $1) returning account_token as token`,
    [count]
  )
  await database.end()
  return rows.map(({ token }) => token)
}

const sendAtRate = async (stack: Stack, notifications: Notification[], rate: number) =>
  await sendAll(notifications, rate, async (notification) => await post(stack, notification))

async function signIn ({ gateway }: Stack, people: Person[], seconds: number) {
  const turns = Array.from({ length: seconds * SIGN_INS_PER_SECOND }, (_, turn) => people[turn % people.length]!)
  return await sendAll(turns, SIGN_INS_PER_SECOND, async ({ email, password }) => {
    const response = await request(`${gateway.url}/api/mobile/v1/auth/login`, {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': clientAddress() },
      body: JSON.stringify({ email, password, deviceName: randomUUID() })
    })
    await response.body.dump()
    return response.statusCode
  })
}

interface Sample {
  /** 0 without a response. */
  status: number
  ms: number
}

/** Sends something of each item at a rate. @returns how long each took */
const sendAll = async <Item>(items: Item[], perSecond: number, send: (item: Item) => Promise<number>) =>
  await pace({ count: items.length, perSecond }, async (turn): Promise<Sample> => {
    const sentAt = performance.now()
    const status = await send(items[turn]!).catch(() => 0)
    return { status, ms: performance.now() - sentAt }
  })

/** Waits until the stores have been asked about everything that they sent. */
async function waitUntilHandled (stack: Stack) {
  const database = new pg.Client(urlOfSchema(stack, 'identity'))
  await database.connect()
  const startedAt = performance.now()
  for (;;) {
    const { rows: [left] } = await database.query<{ count: number }>(
      'select count(*)::int as count from store_notifications where done_at is null'
    )
    if (left?.count === 0) break
    await sleep(200)
  }
  await database.end()
  console.log(`  the last one was handled ${Math.round(performance.now() - startedAt)} ms later`)
}

function report (what: string, samples: Sample[], maxP99Ms?: number) {
  const served = samples.filter(({ status }) => status === 200).map(({ ms }) => ms)
  const [p50, p99] = [percentile(served, 50), percentile(served, 99)].map(Math.round) as [number, number]
  const figures = `${what}: ${served.length} of ${samples.length} served, p50 ${p50} ms, p99 ${p99} ms, load average ${
    loadavg()[0]!.toFixed(1)
  }`
  for (const [status, { length = 0 } = []] of Object.entries(Object.groupBy(samples, ({ status }) => status))) {
    if (status !== '200') console.log(`  ${length} were answered with ${status}`)
  }
  if (maxP99Ms === undefined) console.log(`  ${figures}`)
  else check(served.length === samples.length && p99 < maxP99Ms, figures)
}

await rehearse()
if (!haveAllPassed()) process.exitCode = 1
