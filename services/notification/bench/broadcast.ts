import { createLogger } from '@tandem/process-kit'
// Measures what a broadcast costs at 10,000 and 100,000 devices, compared with a bare insert-select of the same
// notifications and deliveries, and what it costs a chat message meanwhile: `TEST_DATABASE_URL=… node
// services/notification/bench/broadcast.ts`.
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import path from 'node:path'
import { testDatabase } from '@tandem/database-kit/testing'
import { createMediaUrls } from '@tandem/media-url-kit'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { sql } from 'kysely'
import { insertBroadcast, notifyNextChunk } from '../broadcasts/actions.ts'
import type { Deps } from '../deps.ts'
import { createNotifier } from '../notifications/notifier.ts'
import type { Tables } from '../tables.ts'
import { createNotificationErasure } from '../erasure.ts'

const closers: (() => unknown)[] = []
const { db } = await testDatabase<Tables>(
  { teardown: (close: () => unknown) => closers.unshift(close) },
  path.resolve(import.meta.dirname, '..')
)
const pushes = {
  enqueue: async () => {},
  start () {},
  close: async () => {},
  ping: async () => {},
  lowPriorityDepth: async () => 0
}
const callRpc = async () => {
  throw new Error('unexpected call')
}
const deps: Deps = {
  db,
  callRpc,
  findPeople: async () => [],
  mailer: fakeMailer(),
  mediaUrls: createMediaUrls('http://localhost/media'),
  publicUrl: 'http://localhost',
  pushes,
  webhooks: { enqueue: async () => {}, start () {}, close: async () => {} },
  webhookPrivateHosts: new Set(),
  likeDigestMs: 0,
  now: () => new Date(),
  arrivals: new EventEmitter(),
  fourEyes: new Set(),
  erasure: createNotificationErasure({ db, callRpc }),
  wakeUp () {},
  log: createLogger('test', 'silent')
}

let people = 0
for (const size of [10_000, 100_000]) {
  while (people < size) {
    await sql`
      with created as (
        insert into people (account_id, name, locale, timezone, changed_at)
        select uuidv7(), 'P', 'en', 'Asia/Jakarta', now() from generate_series(1, 5000)
        returning account_id
      ), counted as (
        insert into inboxes (account_id) select account_id from created
      )
      insert into devices (account_id, session_id, token, platform)
      select account_id, account_id, 'token-' || account_id, 'android' from created`.execute(db)
    people += 5_000
  }
  const [ana] = await db.selectFrom('people').select('account_id').limit(1).execute()
  await insertBroadcast(db, { id: randomUUID(), title: { en: 'a', id: 'b' }, body: { en: 'c', id: 'd' } }, new Date())
  const baseline = await measureChat(20, ana!.account_id)
  const since = performance.now()
  const concurrent: number[] = []
  let chunks = 0
  while (await notifyNextChunk(deps)) if (chunks++ % 5 === 0) concurrent.push(...await measureChat(1, ana!.account_id))
  const tookMs = performance.now() - since
  const bareMs = await insertBare(size)
  console.log(
    `${size} devices: ${(tookMs / 1_000).toFixed(1)} s, ${(tookMs / size * 1_000).toFixed(0)} us each, ` +
      `${(bareMs / tookMs).toFixed(2)} of the rate of bare inserts; ` +
      `a chat notification p50 ${p50(baseline)} ms alone, ${p50(concurrent)} ms during the broadcast`
  )
}

async function measureChat (count: number, to: string) {
  const times: number[] = []
  for (let each = 0; each < count; each++) {
    const since = performance.now()
    await createNotifier(deps)({
      kind: 'messageReceived',
      dedupeKey: `message:${randomUUID()}`,
      to: [to],
      params: { hasImage: false }
    }, { occurredAt: new Date() })
    times.push(performance.now() - since)
  }
  return times
}

async function insertBare (size: number) {
  await sql`create table bare_notifications (like notifications including all)`.execute(db)
  await sql`create table bare_deliveries (like deliveries including all)`.execute(db)
  const since = performance.now()
  let last = '00000000-0000-0000-0000-000000000000'
  for (let done = 0; done < size; done += 500) {
    const { rows } = await sql<{ last: string }>`
      with planned as (
        select account_id, uuidv7() as id from inboxes where account_id > ${last} order by account_id limit 500
      ), created as (
        insert into bare_notifications (id, account_id, dedupe_key, kind, type, data, params, listed)
        select id, account_id, 'bare', 'broadcast', 'ADMIN', '{}', '{}', true from planned
      ), inserted as (
        insert into bare_deliveries (id, notification_id, account_id, device_id, platform, low_priority, status, due_at)
        select uuidv7(), planned.id, planned.account_id, devices.id, 'android', true, 'pending', now()
        from planned join devices using (account_id)
      )
      select max(account_id::text) as last from planned`.execute(db)
    last = rows[0]!.last
  }
  const took = performance.now() - since
  await sql`drop table bare_notifications, bare_deliveries`.execute(db)
  return took
}

function p50 (times: number[]) {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN).toFixed(1)
}

for (const close of closers) await close()
process.exit(0)
