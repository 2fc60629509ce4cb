// It kills Redis and measures when a push is retried.
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { sql } from 'kysely'
import { register } from 'prom-client'
import t, { type Test } from 'tap'
import { endsWithin, startRedis, type TestServer, runConcurrently, until } from '@tandem/test-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { changeInbox } from '../notifications/change-inbox.ts'
import { notify as notifyWithin, type AddressedRequest } from '../notifications/notify.ts'
import { findRecipients } from '../notifications/recipients.ts'
import { notify, testApp, type TestApp } from '../test/app.ts'
import { readCredential } from '@tandem/google-kit'
import { FCM_CREDENTIAL, createFcm } from './fcm.ts'
import { createPushQueue } from './create-push-queue.ts'
import { startFakeFcm, type Fault } from '../test/fake-fcm.ts'

// From an event to the provider, with a real Redis and a fake FCM server.
const { reset } = await testApp(t)
const google = await startFakeFcm()
t.teardown(() => google.close())

async function workers (
  t: Test,
  app: TestApp,
  redis: TestServer,
  prefix = randomUUIDv7()
) {
  const provider = createFcm({ baseUrl: google.url, credential: await readCredential(google.file, FCM_CREDENTIAL) })
  const pushes = createPushQueue({
    db: app.db,
    callRpc: app.deps.callRpc,
    findPeople: app.deps.findPeople,
    provider,
    redisUrl: redis.url,
    log: silentLog,
    prefix,
    sweepIntervalSeconds: 1,
    sweepMinAgeSeconds: 2,
    retryDelayMs: 500
  })
  t.teardown(() => pushes.close())
  pushes.start()
  await until(() => pushes.ping().then(() => true, () => false))
  return { pushes, deps: { ...app.deps, pushes } }
}

const statuses = async ({ db }: TestApp, accountId: string) =>
  await db.selectFrom('deliveries').where('account_id', '=', accountId)
    .select(['status', 'reason', 'attempts']).orderBy('id').execute()

/** How often jobs of all queues were tried. */
const countJobs = async (outcome?: string) => {
  const attempts = (await register.getSingleMetric('queue_tries_total')!.get()).values
  return attempts.filter(({ labels }) => outcome === undefined || labels['outcome'] === outcome)
    .reduce((sum, { value }) => sum + value, 0)
}

const notifyAll = async (
  deps: TestApp['deps'],
  request: AddressedRequest['request'],
  options: Partial<AddressedRequest>
) => {
  const now = new Date()
  const [recipients = []] = await findRecipients(deps, [{ kind: request.kind, to: request.to }])
  await changeInbox(
    deps,
    async (trx) => await notifyWithin(trx, [{ request, recipients, occurredAt: now, ...options }], now)
  )
}

let number = 0
const level = async (deps: TestApp['deps'], to: string) =>
  await notify(
    deps,
    { kind: 'levelReached', dedupeKey: `level:${++number}`, to: [to], params: { level: number } },
    new Date()
  )

t.test('an event reaches the recipient’s device, with the id of its notification', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(() => undefined)
  const { deps } = await workers(t, app, redis)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  await level(deps, ana)
  await until(() => google.sentTo(token).length > 0)
  const [{ id }] = (await app.inbox(ana)).notifications
  t.match(google.sentTo(token), [{
    notification: { title: `Level ${number}!` },
    data: { notificationId: id, type: 'GAMIFICATION' },
    android: { collapse_key: id }
  }])
  await until(async () => (await statuses(app, ana))[0]?.status === 'sent')
  t.match(await app.log(ana), [{
    status: 'sent',
    reason: null,
    attempts: 1,
    notificationId: id,
    title: `Level ${number}!`,
    platform: 'android',
    finishedAt: String
  }])
})

t.test('a push names an actor that only profile knows', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(() => undefined)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const token = await app.device(ana)
  await notify(app.deps, { kind: 'followed', dedupeKey: 'follow', to: [ana], actorId: ben }, new Date())
  await app.db.deleteFrom('people').where('account_id', '=', ben).execute()
  await workers(t, app, redis)
  await until(() => google.sentTo(token).length > 0)
  t.match(google.sentTo(token), [{ notification: { body: 'Ben started following you' } }])
})

t.test('a dead token is pruned at once and gets no more pushes; Retry-After is respected', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  const { deps } = await workers(t, app, redis)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const [dead, busy] = [await app.device(ana), await app.device(ben)]
  google.respondWith(({ token }, attempt) =>
    token === dead
      ? { status: 404, code: 'UNREGISTERED' }
      : attempt === 1
      ? { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 }
      : undefined
  )
  await level(deps, ana)
  await level(deps, ben)
  await until(async () => (await statuses(app, ana))[0]?.status === 'pruned')
  t.match(await statuses(app, ana), [{ status: 'pruned', reason: '404 UNREGISTERED', attempts: 1 }])
  t.strictSame((await app.send(ana, 'GET', '/notifications/push')).devices, [])
  await level(deps, ana)
  await until(() => google.seen.filter((each) => each.token === busy).length === 1)
  await until(async () => (await statuses(app, ben))[0]?.reason === '429 QUOTA_EXCEEDED')
  const [delivery] = await app.db.selectFrom('deliveries').where('account_id', '=', ben).select(['due_at', 'status'])
    .execute()
  t.equal(delivery?.status, 'pending')
  t.ok(Number(delivery?.due_at) - google.seen.find((each) => each.token === busy)!.at >= 1_000)
  await until(() => google.sentTo(busy).length === 1)
  const [first, second] = google.seen.filter((each) => each.token === busy)
  t.ok(second!.at - first!.at >= 1_000)
  t.equal(google.seen.filter((each) => each.token === dead).length, 1)
})

t.test(
  'of 500 pushes with dead tokens, 429s, 503s and timeouts, every live device gets each once, though Redis is wiped',
  async (t) => {
    const app = reset()
    const redis = await startRedis(t)
    const { deps } = await workers(t, app, redis)
    const accounts = await runConcurrently(Array.from({ length: 50 }, (_, number) => () => app.person(`P${number}`)))
    const fates = new Map<string, Fault | undefined>()
    const fate = (number: number): Fault | undefined =>
      [{ status: 404, code: 'UNREGISTERED' }, { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 }, {
        status: 503,
        code: 'UNAVAILABLE',
        retryAfter: 1
      }][number % 10]
    const tokens = await runConcurrently(
      accounts.flatMap((account) => Array.from({ length: 10 }, () => async () => await app.device(account)))
    )
    tokens.forEach((token, number) => fates.set(token, number === 5 ? 'silence' : fate(number)))
    google.respondWith(({ token }, attempt) => {
      const fault = fates.get(token)
      if (fault === undefined) return
      const isDead = typeof fault === 'object' && fault.status === 404
      return isDead || attempt === 1 ? fault : undefined
    })
    const before = google.seen.length

    await runConcurrently(accounts.map((account, number) => async () => {
      await level(deps, account)
      if (number === 20 || number === 40) await redis.wipe()
    }))
    const left = async () =>
      Number(
        (await app.db.selectFrom('deliveries').where('account_id', 'in', accounts).where('status', 'in', [
          'pending',
          'held'
        ])
          .select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
      )
    await until(async () => await left() === 0)

    const seen = google.seen.slice(before)
    for (const [index, token] of tokens.entries()) {
      const mine = seen.filter((each) => each.token === token)
      const taken = mine.filter((each) => each.status === 200)
      const isDead = index % 10 === 0
      if (mine.length !== (isDead || (index % 10 > 2 && index !== 5) ? 1 : 2) || taken.length !== (isDead ? 0 : 1)) {
        t
          .fail(`device ${index}: ${JSON.stringify(mine.map(({ at, status }) => ({ at, status })))}`)
      }
      if (new Set(mine.map(({ message }) => message.android.collapse_key)).size > 1) {
        t.fail('one notification, one collapse id')
      }
      const [first, second] = mine
      if (second && first!.status !== 'none' && second.at - first!.at < 1_000) {
        t.fail(`sent again ${second.at - first!.at} ms later`)
      }
    }
    const { rows } = await sql<{ status: string, count: number }>`
    select status, count(*)::int as count from deliveries where account_id = any(${accounts}::uuid[])
    group by status order by status`
      .execute(app.db)
    t.strictSame(rows, [{ status: 'pruned', count: 50 }, { status: 'sent', count: 450 }])
  }
)

t.test('nothing is lost while Redis is unavailable, and a held push is sent on time after a wipe', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(() => undefined)
  const { deps } = await workers(t, app, redis)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  await redis.stop()
  await level(deps, ana)
  await level(deps, ana)
  await sql`
    update deliveries set status = 'held', due_at = now() + interval '3 seconds'
    where id = (select id from deliveries where account_id = ${ana} order by id desc limit 1)`.execute(app.db)
  await redis.wipe()
  await redis.start()
  await until(() => google.sentTo(token).length === 1)
  await until(() => google.sentTo(token).length === 2)
  const { due_at } = await app.db.selectFrom('deliveries').where('account_id', '=', ana).orderBy('id', 'desc').select(
    'due_at'
  ).executeTakeFirstOrThrow()
  t.ok(google.seen.at(-1)!.at >= due_at.getTime() - 20)
})

t.test('a push that is due later takes no worker until then', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(() => undefined)
  const { deps } = await workers(t, app, redis)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  const before = await countJobs('delayed')
  await notifyAll(
    deps,
    { kind: 'levelReached', dedupeKey: 'later', to: [ana], params: { level: 2 } },
    { hold: { until: new Date(Date.now() + 1_500), reason: 'waiting for more likes' } }
  )

  await until(() => google.sentTo(token).length === 1)
  t.equal(await countJobs('delayed'), before)
})

t.test('an unread message of the chat on the screen is pushed once, within six seconds', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(() => undefined)
  const { deps } = await workers(t, app, redis)
  const [ana, ben, matchId] = [await app.person('Ana'), await app.person('Ben'), randomUUID()]
  const token = await app.device(ana)
  const focus = { realtime_focus_match: matchId, realtime_focus_until: new Date(Date.now() + 90_000) }
  await app.db.insertInto('inboxes').values({ account_id: ana, ...focus })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(focus)).execute()
  const now = new Date()
  const startedAt = performance.now()
  await notify(deps, {
    kind: 'messageReceived',
    dedupeKey: 'message:on-screen',
    to: [ana],
    actorId: ben,
    data: { matchId, messageId: randomUUID() },
    params: { hasImage: false, displayName: 'Ben' }
  }, now)
  const { dueAt } = (await app.log(ana))[0]
  t.ok(Date.parse(dueAt) - now.getTime() <= 6_000, dueAt)
  await until(() => google.sentTo(token).length === 1)
  const seconds = (performance.now() - startedAt) / 1_000
  t.ok(seconds >= 5, `${seconds.toFixed(1)} s`)
  await until(async () => (await statuses(app, ana))[0]?.status === 'sent')
  t.equal(google.sentTo(token).length, 1)
})

t.test('chat does not wait behind a broadcast at a slow provider', async (t) => {
  const app = reset()
  const redis = await startRedis(t)
  google.respondWith(({ data }) => data.type === 'ADMIN' ? 'silence' : undefined)
  const { deps } = await workers(t, app, redis)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const token = await app.device(ana)
  const recipientIds = await runConcurrently(Array.from({ length: 30 }, () => async () => {
    const account = await app.person('P')
    await app.device(account)
    return account
  }))
  const request = {
    kind: 'broadcast' as const,
    dedupeKey: 'broadcast:1',
    to: recipientIds,
    params: { title_en: 'a', title_id: 'b', body_en: 'c', body_id: 'd' }
  }
  await notifyAll(deps, request, { lowPriority: true })
  await until(() => google.seen.filter((each) => each.status === 'none').length >= 16)
  await notify(deps, {
    kind: 'messageReceived',
    dedupeKey: `message:${randomUUID()}`,
    to: [ana],
    actorId: ben,
    params: { hasImage: false }
  }, new Date())
  const sent = until(() => google.sentTo(token).length === 1)
  t.ok(await endsWithin(8_000, sent), 'before those of the broadcast end after ten seconds')
  google.respondWith(() => undefined)
})
