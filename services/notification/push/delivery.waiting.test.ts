// It measures when a push is retried.
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { register } from 'prom-client'
import t from 'tap'
import { endsWithin, runConcurrently, until } from '@tandem/test-kit'
import { changeInbox } from '../notifications/change-inbox.ts'
import { notify as notifyWithin, type AddressedRequest } from '../notifications/notify.ts'
import { findRecipients } from '../notifications/recipients.ts'
import { notify, testApp, type TestApp } from '../test/app.ts'
import { startFakeFcm } from '../test/fake-fcm.ts'
import { outcomesOf, reachLevel, startPushWorkers } from '../test/push-workers.ts'

// From an event to the provider, with a real Redis and a fake FCM server.
const { reset } = await testApp(t)
const google = await startFakeFcm()
t.teardown(() => google.close())

/** How often jobs of all queues were tried and have to wait. */
const countDelays = async () => {
  const { values } = await register.getSingleMetric('queue_tries_total')!.get()
  return values.filter(({ labels }) => labels['outcome'] === 'delayed').reduce((sum, { value }) => sum + value, 0)
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

t.test('an event reaches the recipient’s device, with the id of its notification', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const { deps } = await startPushWorkers(t, app, google)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  const level = await reachLevel(deps, ana)
  await until(() => google.sentTo(token).length > 0)
  const [{ id }] = (await app.inbox(ana)).notifications
  t.match(google.sentTo(token), [{
    notification: { title: `Level ${level}!` },
    data: { notificationId: id, type: 'GAMIFICATION' },
    android: { collapse_key: id }
  }])
  await until(async () => (await outcomesOf(app, ana))[0]?.status === 'sent')
  t.match(await app.log(ana), [{
    status: 'sent',
    reason: null,
    attempts: 1,
    notificationId: id,
    title: `Level ${level}!`,
    platform: 'android',
    finishedAt: String
  }])
})

t.test('a push names an actor that only profile knows', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const token = await app.device(ana)
  await notify(app.deps, { kind: 'followed', dedupeKey: 'follow', to: [ana], actorId: ben }, new Date())
  await app.db.deleteFrom('people').where('account_id', '=', ben).execute()
  await startPushWorkers(t, app, google)
  await until(() => google.sentTo(token).length > 0)
  t.match(google.sentTo(token), [{ notification: { body: 'Ben started following you' } }])
})

t.test('a dead token is pruned at once and gets no more pushes; Retry-After is respected', async (t) => {
  const app = reset()
  const { deps } = await startPushWorkers(t, app, google)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const [dead, busy] = [await app.device(ana), await app.device(ben)]
  google.respondWith(({ token }, attempt) =>
    token === dead
      ? { status: 404, code: 'UNREGISTERED' }
      : attempt === 1
      ? { status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 1 }
      : undefined
  )
  await reachLevel(deps, ana)
  await reachLevel(deps, ben)
  await until(async () => (await outcomesOf(app, ana))[0]?.status === 'pruned')
  t.match(await outcomesOf(app, ana), [{ status: 'pruned', reason: '404 UNREGISTERED', attempts: 1 }])
  t.strictSame((await app.send(ana, 'GET', '/notifications/push')).devices, [])
  await reachLevel(deps, ana)
  await until(() => google.seen.filter((each) => each.token === busy).length === 1)
  await until(async () => (await outcomesOf(app, ben))[0]?.reason === '429 QUOTA_EXCEEDED')
  const [delivery] = await app.db.selectFrom('deliveries').where('account_id', '=', ben).select(['due_at', 'status'])
    .execute()
  t.equal(delivery?.status, 'pending')
  t.ok(Number(delivery?.due_at) - google.seen.find((each) => each.token === busy)!.at >= 1_000)
  await until(() => google.sentTo(busy).length === 1)
  const [first, second] = google.seen.filter((each) => each.token === busy)
  t.ok(second!.at - first!.at >= 1_000)
  t.equal(google.seen.filter((each) => each.token === dead).length, 1)
})

t.test('a push that is due later takes no worker until then', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const { deps } = await startPushWorkers(t, app, google)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  const before = await countDelays()
  await notifyAll(
    deps,
    { kind: 'levelReached', dedupeKey: 'later', to: [ana], params: { level: 2 } },
    { hold: { until: new Date(Date.now() + 1_500), reason: 'waiting for more likes' } }
  )

  await until(() => google.sentTo(token).length === 1)
  t.equal(await countDelays(), before)
})

t.test('a push that another worker postpones is sent long before the lease of that worker would have ended', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const { deps } = await startPushWorkers(t, app, google)
  const ana = await app.person('Ana')
  const token = await app.device(ana)
  await reachLevel(app.deps, ana)
  const deliveries = app.db.updateTable('deliveries').where('account_id', '=', ana)
  const { id } = await deliveries.set({ claimed_until: sql`now() + interval '30 seconds'` }).returning('id')
    .executeTakeFirstOrThrow()
  const before = await countDelays()
  await deps.pushes.enqueue([{ id, dueAt: new Date(), lowPriority: false }])
  await until(async () => await countDelays() > before)

  await deliveries.set({ claimed_until: null, due_at: sql`now()` }).execute()
  t.ok(await endsWithin(15_000, until(() => google.sentTo(token).length === 1)))
})

t.test('an unread message of the chat on the screen is pushed once, within six seconds', async (t) => {
  const app = reset()
  google.respondWith(() => undefined)
  const { deps } = await startPushWorkers(t, app, google)
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
  await until(async () => (await outcomesOf(app, ana))[0]?.status === 'sent')
  t.equal(google.sentTo(token).length, 1)
})

t.test('chat does not wait behind a broadcast at a slow provider', async (t) => {
  const app = reset()
  google.respondWith(({ data }) => data.type === 'ADMIN' ? 'silence' : undefined)
  const { deps } = await startPushWorkers(t, app, google)
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
