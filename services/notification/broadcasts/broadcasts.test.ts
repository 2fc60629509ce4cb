import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { sql } from 'kysely'
import t from 'tap'
import { type Teardown, until } from '@tandem/test-kit'
import { testApp, type TestApp } from '../test/app.ts'
import { insertBroadcast, notifyNextChunk } from './actions.ts'
import { stopBroadcast } from './operators.ts'

const broadcast = () => ({
  broadcastId: randomUUID(),
  title: { en: 'New classes', id: 'Kelas baru' },
  body: { en: 'See what is on.', id: 'Lihat jadwal.' }
})

/** Creates accounts with one device each, directly in the database. */
async function createAccounts ({ db }: TestApp, size: number) {
  await sql`
    insert into people (account_id, name, locale, timezone, changed_at)
    select uuidv7(), 'P' || n, 'en', 'Asia/Jakarta', now() from generate_series(1, ${size}::int) n`.execute(db)
  await sql`insert into inboxes (account_id) select account_id from people on conflict do nothing`.execute(db)
  await sql`
    insert into devices (account_id, session_id, token, platform)
    select account_id, account_id, 'token-' || account_id, 'android' from people`.execute(db)
}

async function notifyAll ({ deps }: TestApp) {
  let chunks = 0
  while (await notifyNextChunk(deps)) chunks++
  return chunks
}

async function counts ({ db }: TestApp) {
  const { rows } = await sql<{ notifications: number, deliveries: number, unread: number, recipients: number }>`
    select (select count(*) from notifications where kind = 'broadcast')::int as notifications,
      (select count(*) from deliveries)::int as deliveries,
      (select count(*) from notifications where listed and read_at is null)::int as unread,
      (select sum(recipients_count) from broadcasts)::int as recipients`
    .execute(db)
  return rows[0]
}

const appOf = async (t: Teardown) => (await testApp(t)).reset()

t.test('everyone is notified once, in their language, with low priority', async (t) => {
  const app = await appOf(t)
  await createAccounts(app, 1_200)
  const ana = await app.person('Ana', { locale: 'id' })
  const token = await app.device(ana)
  const muted = await app.person('Ben')
  await app.device(muted)
  await app.send(muted, 'PUT', '/notifications/preferences', { categories: { ADMIN: { push: false, inApp: false } } })

  const sent = broadcast()
  await app.receive('admin.broadcast.sent.v1', sent)
  await app.receive('admin.broadcast.sent.v1', sent)
  t.equal(await notifyAll(app), 3)
  await app.receive('admin.broadcast.sent.v1', sent)
  t.equal(await notifyAll(app), 0)
  t.strictSame(await counts(app), { notifications: 1_202, deliveries: 1_202, unread: 1_201, recipients: 1_202 })
  t.match(await app.inbox(ana), {
    notifications: [{
      type: 'ADMIN',
      title: 'Kelas baru',
      body: 'Lihat jadwal.',
      actor: null,
      data: { broadcastId: sent.broadcastId }
    }],
    unreadCount: 1
  })
  t.match(await app.inbox(muted), { notifications: { length: 0 }, unreadCount: 0 })
  t.equal(app.pushes.enqueued.length, 1_201)
  t.ok(app.pushes.enqueued.every(({ lowPriority }) => lowPriority))

  app.pushes.enqueued.splice(
    0,
    app.pushes.enqueued.length,
    ...app.pushes.enqueued.filter(({ id }) => id !== undefined).slice(-1)
  )
  await app.deliverAll()
  t.match(app.provider.sent, [{ urgent: false }])
  t.ok(token)
})

t.test('an account whose rows are at fault is left out of a broadcast, and all others get it', async (t) => {
  const app = await appOf(t)
  await createAccounts(app, 1_200)
  const [unplannable, refused] = [await app.person('Ana'), await app.person('Ben')]
  for (const each of [unplannable, refused]) await app.device(each)
  await app.send(unplannable, 'PUT', '/notifications/preferences', { quietHours: { enabled: true } })
  await app.db.updateTable('preferences').set({ quiet_hours_start: 'late' }).execute()
  await sql`alter table notifications add constraint refused check (account_id <> ${sql.lit(refused)})`.execute(app.db)
  await app.receive('admin.broadcast.sent.v1', broadcast())
  await notifyAll(app)
  t.strictSame(await counts(app), { notifications: 1_200, deliveries: 1_200, unread: 1_200, recipients: 1_200 })
  t.equal(app.pushes.enqueued.length, 1_200)
})

t.test('a push of a stopped broadcast that waits for the end of quiet hours is not sent', async (t) => {
  const app = await appOf(t)
  await createAccounts(app, 600)
  const [stopped, going] = [broadcast(), broadcast()]
  for (const { broadcastId: id, title, body } of [stopped, going]) {
    await insertBroadcast(app.db, { id, title, body }, new Date())
    await notifyNextChunk(app.deps)
    if (id === stopped.broadcastId) await stopBroadcast(app.db, id)
  }
  const deliveries = async ({ broadcastId }: typeof stopped) => {
    const { rows } = await sql<{ id: string, status: string, reason: string | null }>`
      select deliveries.id, status, reason from deliveries join notifications on notifications.id = notification_id
      where data ->> 'broadcastId' = ${broadcastId} order by status desc`.execute(app.db)
    return rows
  }
  const ids = [...(await deliveries(stopped)).slice(0, 1), ...(await deliveries(going)).slice(0, 1)].map(({ id }) => id)
  app.pushes.enqueued.splice(
    0,
    app.pushes.enqueued.length,
    ...app.pushes.enqueued.filter(({ id }) => ids.includes(id))
  )
  await app.deliverAll()
  t.equal(app.provider.sent.length, 1)
  const results = [...await deliveries(stopped), ...await deliveries(going)].filter(({ id }) => ids.includes(id))
  t.match(results, [{ status: 'muted', reason: 'the broadcast was stopped' }, { status: 'sent' }])
})

t.test('replicas take turns, and nobody is notified twice', async (t) => {
  const app = await appOf(t)
  await createAccounts(app, 2_500)
  await insertBroadcast(app.db, { id: randomUUID(), title: broadcast().title, body: broadcast().body }, new Date())
  await Promise.all(Array.from({ length: 3 }, async () => {
    for (let round = 0; round < 6; round++) await notifyNextChunk(app.deps)
  }))
  await notifyAll(app)
  t.strictSame(await counts(app), { notifications: 2_500, deliveries: 2_500, unread: 2_500, recipients: 2_500 })
})

t.test('a process killed in the middle leaves the rest to the next one', async (t) => {
  const app = await appOf(t)
  await createAccounts(app, 6_000)
  await insertBroadcast(app.db, { id: randomUUID(), title: broadcast().title, body: broadcast().body }, new Date())
  for (let kills = 0; kills < 2; kills++) {
    const before = (await counts(app))!.recipients
    const child = fork(new URL('../test/broadcasting-process.ts', import.meta.url), [app.url])
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    await until(async () => (await counts(app))!.recipients > before)
    child.kill('SIGKILL')
    await ended
  }
  t.ok((await counts(app))!.recipients < 6_000, 'it was killed in the middle')
  await until(async () => await notifyNextChunk(app.deps).then((hasWorked) => !hasWorked))
  t.strictSame(await counts(app), { notifications: 6_000, deliveries: 6_000, unread: 6_000, recipients: 6_000 })
})
