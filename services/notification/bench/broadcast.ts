// What a broadcast costs at 10,000 and at 100,000 devices, beside one bare insert-select of as many notices and deliveries, and what
// it costs a chat message meanwhile: `TEST_DATABASE_URL=… node services/notification/bench/broadcast.ts`.
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { testDatabase } from '@tandem/database-kit/testing'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { sql } from 'kysely'
import { insertBroadcast, notifyNextChunk } from '../broadcasts/actions.ts'
import type { Deps } from '../deps.ts'
import { notify } from '../inbox/actions.ts'
import type { Tables } from '../tables.ts'

const closers: (() => unknown)[] = []
const { db } = await testDatabase<Tables>({ teardown: (close: () => unknown) => closers.unshift(close) }, path.resolve(import.meta.dirname, '..'))
const pushes = { offer: async () => {}, start () {}, close: async () => {}, ready: async () => {}, lowDepth: async () => 0 }
const deps: Deps = {
  db,
  callRpc: async () => { throw new Error('nobody is asked') },
  findPeople: async () => { throw new Error('nobody is looked up') },
  mailer: fakeMailer(),
  pushes,
  gatherLikesFor: 0,
  now: () => new Date()
}

let people = 0
for (const size of [10_000, 100_000]) {
  while (people < size) {
    await sql`
      with met as (insert into people (account_id, name, locale, timezone, changed_at) select uuidv7(), 'P', 'en', 'Asia/Jakarta', now() from generate_series(1, 5000) returning account_id),
      boxes as (insert into inboxes (account_id) select account_id from met)
      insert into devices (account_id, session_id, token, platform) select account_id, account_id, 'token-' || account_id, 'android' from met`.execute(db)
    people += 5_000
  }
  const [ana] = await db.selectFrom('people').select('account_id').limit(1).execute()
  await insertBroadcast(db, { id: randomUUID(), title: { en: 'a', id: 'b' }, body: { en: 'c', id: 'd' } }, new Date())
  const alone = await chats(20, ana!.account_id)
  const since = performance.now()
  const beside: number[] = []
  let chunks = 0
  while (await notifyNextChunk(deps)) if (chunks++ % 5 === 0) beside.push(...await chats(1, ana!.account_id))
  const took = performance.now() - since
  const bare = await insertBare(size)
  console.log(`${size} devices: ${(took / 1_000).toFixed(1)} s, ${(took / size * 1_000).toFixed(0)} us each, ${(bare / took).toFixed(2)} of the rate of bare inserts; ` +
    `a chat notice p50 ${p50(alone)} ms alone, ${p50(beside)} ms beside it`)
}

async function chats (count: number, to: string) {
  const times: number[] = []
  for (let each = 0; each < count; each++) {
    const since = performance.now()
    await notify(deps, { kind: 'messageReceived', cause: `message:${randomUUID()}`, to: [to], params: { hasImage: false } }, new Date())
    times.push(performance.now() - since)
  }
  return times
}

async function insertBare (size: number) {
  await sql`create table bare_notices (like notices including all)`.execute(db)
  await sql`create table bare_deliveries (like deliveries including all)`.execute(db)
  const since = performance.now()
  let last = '00000000-0000-0000-0000-000000000000'
  for (let done = 0; done < size; done += 500) {
    const { rows } = await sql<{ last: string }>`
      with crowd as (select account_id, uuidv7() as id from inboxes where account_id > ${last} order by account_id limit 500),
      told as (insert into bare_notices (id, account_id, cause, kind, type, data, params, listed) select id, account_id, 'bare', 'broadcast', 'ADMIN', '{}', '{}', true from crowd),
      sent as (insert into bare_deliveries (id, notice_id, account_id, device_id, platform, low, status, due_at)
        select uuidv7(), crowd.id, crowd.account_id, devices.id, 'android', true, 'pending', now() from crowd join devices using (account_id))
      select max(account_id::text) as last from crowd`.execute(db)
    last = rows[0]!.last
  }
  const took = performance.now() - since
  await sql`drop table bare_notices, bare_deliveries`.execute(db)
  return took
}

function p50 (times: number[]) {
  return (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN).toFixed(1)
}

for (const close of closers) await close()
process.exit(0)
