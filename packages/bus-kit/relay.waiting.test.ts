// It measures how soon an event is published.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { defineEvent } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import Type from 'typebox'
import t from 'tap'
import { seededRandom, until } from '@tandem/test-kit'
import { deleteExpired } from './relay.ts'
import { publish } from './index.ts'
import {
  effects,
  Happened,
  haveEffects,
  log,
  publishOne,
  publishMany,
  untilPublished,
  upTo,
  testBus,
  type Db,
  type Tables
} from './test-bus.ts'

// Most of this file waits, so its tests run in parallel.
t.jobs = 3

async function timeRoundTrips (db: Db, stopped: () => boolean) {
  const took: number[] = []
  while (!stopped()) {
    const since = performance.now()
    await sql`select 1`.execute(db)
    took.push(performance.now() - since)
    await sleep(10)
  }
  return took
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? NaN

// Unbuffered, so that it runs alone: it measures time.
t.test('an event is consumed soon after its commit, also under load', { buffered: false }, async (t) => {
  const { url, publisher, consumer } = await testBus(t)
  const committed = new Map<number, number>()
  const received = new Map<number, number>()
  publisher().relay()
  consumer().consume(async ({ data }) => received.set(data.number, performance.now()))
  const db = connect<Tables>(url, { log, maxConnections: 9 })
  t.teardown(() => db.destroy())
  await publishOne(db, -1)
  await until(() => received.has(-1))

  let isStopped = false
  const trips = timeRoundTrips(db, () => isStopped)
  await Promise.all(
    upTo(8).map(async (writer) => {
      for (let number = writer; number < 800; number += 8) {
        await publishOne(db, number)
        committed.set(number, performance.now())
        await sleep(10)
      }
    })
  )
  await until(() => received.size === 801)
  isStopped = true
  const roundTrip = median(await trips)
  const waits = [...committed].map(([number, at]) => received.get(number)! - at)
  // On a busy machine, everything takes a multiple of a round trip to Postgres.
  t.ok(
    median(waits) < Math.max(20, 30 * roundTrip),
    `half of them within 20 ms, here ${median(waits)} where a round trip takes ${roundTrip}`
  )
})

t.test('a batch reads no more than its rows, also of a table that was empty when its statements were planned', async (t) => {
  const { db, publisher } = await testBus(t)
  await sql`alter table outbox set (autovacuum_enabled = false)`.execute(db)
  publisher().relay()
  const publishTen = async () => {
    for (let number = 0; number < 10; number++) {
      await publishOne(db, number)
      await sleep(50)
    }
  }
  const untilUpdated = async (count: number) => {
    let read = 0
    await until(async () => {
      const { rows: [counts] } = await sql<{ updated: number, read: number }>`
        select n_tup_upd as updated, seq_tup_read as read from pg_stat_user_tables
        where relid = 'outbox'::regclass`.execute(db)
      read = counts!.read
      return counts!.updated === count
    })
    return read
  }
  await publishTen()
  const before = await untilUpdated(10)
  await sql`
    insert into outbox (type, subject, data, published_at)
    select ${Happened.type}, 'thing', '{"number":0}', now() from generate_series(1, 5000)`.execute(db)
  await publishTen()
  t.ok(await untilUpdated(20) - before < 5_000)
})

t.test('two replicas share the work, and one continues when the other is gone', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  const [first, second] = [publisher(), publisher()]
  first.relay()
  second.relay()
  const received = [0, 0]
  for (const index of [0, 1]) {
    consumer().consume(async () => {
      await sleep(2)
      received[index]!++
    })
  }
  const total = () => received[0]! + received[1]!
  let published = 0
  // The broker can lose the first fetch of a consumer, which then begins up to 5 s later.
  while (Math.min(...received) <= 100) {
    await publishMany(db, 100, published)
    published += 100
    await until(() => total() >= published)
  }
  await sleep(100)
  t.equal(total(), published, 'each event is consumed by one of them')

  await first.close()
  await publishOne(db, published)
  await until(() => total() === published + 1)
})

t.test('events of one subject arrive in order while two relays take turns', async (t) => {
  const random = seededRandom(t)
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  publisher().relay()
  const received = new Map<string, number[]>()
  consumer().consume(async ({ subject, data }) => {
    await sleep(random() * 4)
    received.set(subject, [...received.get(subject) ?? [], data.number])
  })
  await Promise.all(['a', 'b', 'c'].map(async (subject) => {
    for (const number of upTo(60)) await publishOne(db, number, subject)
  }))
  await until(() => [...received.values()].flat().length === 180)
  for (const subject of ['a', 'b', 'c']) t.strictSame(received.get(subject), upTo(60))
})

t.test('an event of another service is not published and delays no other', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  const ForeignHappened = defineEvent('beta.thing.happened.v1', Type.Object({}))
  publisher().relay()
  consumer().consume()
  await db.transaction().execute(async (trx) => await publish(trx, ForeignHappened, 'thing', {}))
  await publishOne(db, 1, 'thing')
  await until(haveEffects(db, 1))
  // The effect may come before the relay commits.
  await untilPublished(db, { rejected: 1 })
  t.match(await db.selectFrom('outbox').select('rejected_reason').orderBy('seq').execute(), [{
    rejected_reason: /alpha cannot publish beta/
  }, { rejected_reason: null }])
})

t.test('an event that is too large for NATS waits for an operator and delays no other', async (t) => {
  const { db, lines, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  // `publish` would refuse it; an older version, or an operator, may not have.
  const publishLarge = async (number: number, length: number) => {
    const values = {
      type: Happened.type,
      subject: 'thing',
      data: JSON.stringify({ number, text: 'x'.repeat(length) }),
      traceparent: null,
      request_id: null
    }
    await db.insertInto('outbox').values(values).execute()
  }
  await publishLarge(0, 70_000)
  await publishLarge(1, 2_000_000)
  await publishOne(db, 2, 'thing')
  await until(haveEffects(db, 1))
  t.strictSame(await effects(db), [2])
  await untilPublished(db, { rejected: 2 })
  t.equal(lines.filter(({ level }) => level === 'error').length, 2)

  await db.updateTable('outbox').set({ data: JSON.stringify({ number: 0 }), rejected_reason: null }).where(
    'seq',
    '=',
    1
  ).execute()
  await until(haveEffects(db, 2))
  t.strictSame(await effects(db), [0, 2])
})

t.test('a stop publishes what was committed before', async (t) => {
  const { db, publisher } = await testBus(t)
  const alpha = publisher()
  const relay = alpha.relay()
  await publishOne(db, 0)
  await untilPublished(db)
  await publishMany(db, 450, 1)
  await relay.stop()
  t.equal(await db.selectFrom('outbox').select('id').where('published_at', 'is', null).executeTakeFirst(), undefined)
})

t.test('events published three days ago, or rejected a month ago, and claims of two weeks ago are deleted', async (t) => {
  const { db } = await testBus(t)
  const agedId = (age: string) => sql<string>`uuidv7(${age}::interval)`
  const row = {
    type: Happened.type,
    subject: 'thing',
    data: '{}',
    traceparent: null,
    request_id: null,
    rejected_reason: null,
    stream_created_at: null,
    stream_seq: null
  }
  await db.insertInto('outbox').values([
    { ...row, id: agedId('-73 hours'), published_at: new Date() },
    { ...row, id: agedId('-71 hours'), published_at: new Date() },
    { ...row, id: agedId('-31 days'), published_at: null },
    { ...row, id: agedId('-31 days'), published_at: null, rejected_reason: 'too large' },
    { ...row, id: agedId('-29 days'), published_at: null, rejected_reason: 'too large' }
  ]).execute()
  await db.insertInto('processed_events').values(
    ['-15 days', '-13 days'].map((age) => ({ event_id: agedId(age), consumer: 'effects' }))
  ).execute()

  t.equal(await deleteExpired(db), 2)
  t.match(
    await db.selectFrom('outbox').select(['published_at', 'rejected_reason']).orderBy('id').execute(),
    [{ published_at: null, rejected_reason: null }, { rejected_reason: 'too large' }, { published_at: Date }],
    'an event that still waits is never deleted'
  )
  t.equal((await db.selectFrom('processed_events').select('event_id').execute()).length, 1)
  t.equal(await deleteExpired(db), 0)
})
