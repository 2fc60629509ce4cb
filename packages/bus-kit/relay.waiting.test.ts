// It kills NATS and measures how soon an event is published.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { connect as connectNats, type NatsConnection, type StreamConfig } from 'nats'
import { defineEvent } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import Type from 'typebox'
import t, { type Test } from 'tap'
import { seededRandom, until } from '@tandem/test-kit'
import { deleteExpired } from './relay.ts'
import { connectBus, parseNatsUrl, publish, publishSql } from './index.ts'
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

// Messages that a killed broker had delivered come again after 5 s. Most of this file waits, so its tests run in
// parallel.
t.setTimeout(100_000)
t.jobs = 3

async function operator (t: Test, url: string) {
  const nats = await connectNats({ ...parseNatsUrl(url), maxReconnectAttempts: -1, reconnectTimeWait: 50 })
  t.teardown(() => nats.close())
  return nats
}

async function countStored (nats: NatsConnection) {
  return (await (await nats.jetstreamManager()).streams.info('EVENTS_ALPHA')).state.messages
}

/** 16 clients that write continuously; `stop` returns the number of their committed transactions. */
function startWriters (t: Test, url: string) {
  const db = connect<Tables>(url, { log, maxConnections: 16 })
  let isStopped = false
  let count = 0
  const writers = Array.from({ length: 16 }, async () => {
    while (!isStopped) {
      await publishOne(db, count++)
      await sleep(5)
    }
  })
  t.teardown(() => db.destroy())
  return {
    async stop () {
      isStopped = true
      await Promise.all(writers)
      return count
    }
  }
}

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

t.test('a rolled back event is never published', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await publish(trx, Happened, 'thing', { number: 13 })
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' }
  )
  await publishOne(db, 1)
  await until(haveEffects(db, 1))
  await sleep(200)
  t.strictSame(await effects(db), [1])
})

t.test('publishSql publishes an event once for each row, with values that only Postgres knows, or not at all', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  const change = async (rows: number, text: string) =>
    await publishSql(db, (insertEvent) =>
      sql`
    with changed as (select 4 + n as number from generate_series(1, ${rows}::int) n),
    published as (${insertEvent(Happened, 'thing', { number: sql<number>`changed.number`, text }, sql`changed`)})
    select from changed`)
  await change(0, 'none')
  await change(3, 'a "quoted" text')
  await t.rejects(
    publishSql(db, (insertEvent) =>
      sql`
    with published as (${
        insertEvent(Happened, 'thing', { number: 99 }, sql`(values (1)) as changed`)
      }) select 1 / (random() * 0)::int`),
    /division by zero/
  )
  await t.rejects(
    change(1, 7 as unknown as string),
    /invalid data for alpha\.thing\.happened\.v1: \/text must be string/
  )
  await until(haveEffects(db, 3))
  await sleep(200)
  t.strictSame(await effects(db), [5, 6, 7])
  t.equal(
    (await db.selectFrom('outbox').select('data').orderBy('seq').executeTakeFirstOrThrow().then(({ data }) =>
      data as { text: string }
    )).text,
    'a "quoted" text'
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

t.test('data that do not match the schema cannot be published, and the error does not contain them', async (t) => {
  const { db } = await testBus(t)
  const wrong = db.transaction().execute(async (trx) =>
    await publish(trx, Happened, 'thing', { number: 'secret' as unknown as number })
  )
  await t.rejects(wrong, { message: /alpha\.thing\.happened\.v1.*number/ })
  await t.rejects(wrong, { message: /^(?!.*secret)/ })
})

t.test('events written while NATS is down are consumed once it returns', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  await nats.kill()
  publisher().relay()
  consumer().consume()
  await publishMany(db, 500)
  await sleep(500)
  await nats.start()
  await until(haveEffects(db, 500))
  t.strictSame(await effects(db), upTo(500))
})

t.test('a broker that is killed repeatedly loses nothing, and nothing takes effect twice', async (t) => {
  const { nats, db, url, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  const writers = startWriters(t, url)
  for (let kills = 0; kills < 3; kills++) {
    await sleep(700)
    await nats.kill()
    await sleep(300)
    await nats.start()
  }
  await sleep(500)
  const count = await writers.stop()
  await until(haveEffects(db, count))
  t.strictSame(await effects(db), upTo(count))
  t.ok(count > 500, 'the writers never waited for the broker')
  await untilPublished(db)
})

t.test('a broker whose store is wiped under load loses nothing, and nothing takes effect twice', async (t) => {
  const { nats, db, url, publisher, consumer } = await testBus(t)
  const alpha = publisher()
  alpha.relay()
  consumer().consume()
  const writers = startWriters(t, url)
  await sleep(1_000)
  await nats.wipe()
  await sleep(1_000)
  const count = await writers.stop()
  await until(haveEffects(db, count))
  t.strictSame(await effects(db), upTo(count))
  await untilPublished(db)
  const operatorNats = await operator(t, nats.url)
  t.equal(await countStored(operatorNats), count, 'the stream has each of them once')
})

t.test('a broker that was wiped during a quiet time gets everything again', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  const alpha = publisher()
  alpha.relay()
  await publishMany(db, 1_200)
  await untilPublished(db)
  await nats.wipe()
  const operatorNats = await operator(t, nats.url)
  await until(async () => await countStored(operatorNats).catch(() => 0) === 1_200)
  await publishOne(db, 1_200)
  const received = new Set<number>()
  consumer().consume(async ({ data }) => received.add(data.number))
  await until(() => received.size === 1_201)
})

t.test('a stream that is deleted during a connection is created and filled again', async (t) => {
  const { nats, db, publisher } = await testBus(t)
  publisher().relay()
  await publishMany(db, 20)
  await untilPublished(db)
  const operatorNats = await operator(t, nats.url)
  await (await operatorNats.jetstreamManager()).streams.delete('EVENTS_ALPHA')
  await publishOne(db, 20)
  await until(async () => await countStored(operatorNats).catch(() => 0) === 21)
  await untilPublished(db)
  t.equal(await countStored(operatorNats), 21)
})

t.test('a broker that lost the end of its stream gets it again', async (t) => {
  const { nats, db, publisher } = await testBus(t)
  const alpha = publisher()
  alpha.relay()
  await publishMany(db, 30)
  await untilPublished(db)
  await alpha.close()
  // As after a power cut: the rows know of more messages than the stream has.
  await db.updateTable('outbox').set({ stream_seq: sql`stream_seq + 1000` }).where('seq', '>', 20).execute()
  const before = await db.selectFrom('outbox').select(['seq', 'published_at as at']).orderBy('seq').execute()
  publisher().relay()
  await until(async () => {
    const row = await db.selectFrom('outbox').select(['published_at as at', 'stream_seq']).orderBy('seq', 'desc').limit(
      1
    ).executeTakeFirstOrThrow()
    return row.at !== null && row.stream_seq === 30
  })
  const after = await db.selectFrom('outbox').select(['seq', 'published_at as at']).orderBy('seq').execute()
  t.strictSame(after.slice(0, 20), before.slice(0, 20), 'what it still has is not published again')
  t.equal(await countStored(await operator(t, nats.url)), 30, 'the broker drops duplicates by message id')
})

t.test('a restart of the broker publishes nothing again', async (t) => {
  const { nats, db, publisher } = await testBus(t)
  publisher().relay()
  await publishMany(db, 20)
  await untilPublished(db)
  const published = async () => await db.selectFrom('outbox').select(['seq', 'published_at']).orderBy('seq').execute()
  const before = await published()
  await nats.kill()
  await nats.start()
  await publishOne(db, 20)
  await untilPublished(db)
  t.strictSame((await published()).slice(0, 20), before)
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
  t.match(await db.selectFrom('outbox').select('rejected_reason').orderBy('seq').execute(), [{
    rejected_reason: /alpha cannot publish beta/
  }, { rejected_reason: null }])
})

t.test('an event that is too large for NATS waits for an operator and delays no other', async (t) => {
  const { db, lines, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  // As publishSql could, because it cannot measure its data beforehand.
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
  t.equal(lines.filter(({ level }) => level === 'error').length, 2)

  await db.updateTable('outbox').set({ data: JSON.stringify({ number: 0 }), rejected_reason: null }).where(
    'seq',
    '=',
    1
  ).execute()
  await until(haveEffects(db, 2))
  t.strictSame(await effects(db), [0, 2])
})

t.test('publish throws for an event that exceeds a message, and its change is rolled back', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  const publishLarge = async (number: number, length: number) =>
    await db.transaction().execute(async (trx) => {
      await publishOne(db, 100 + number)
      await publish(trx, Happened, 'thing', { number, text: 'ä'.repeat(length) })
    })
  await t.rejects(
    publishLarge(0, 35_000),
    /alpha.thing.happened.v1 is too large to publish: 70\d{3} bytes, the maximum is 64512/
  )
  t.equal((await db.selectFrom('outbox').select('id').execute()).length, 1, 'only the event of the other transaction')
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await publish(trx, Happened, 'x'.repeat(500), { number: 0, text: 'x'.repeat(64_100) })
    }),
    /too large to publish/,
    'the subject counts, too'
  )

  await publishLarge(1, 32_200)
  publisher().relay()
  consumer().consume()
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [1, 100, 101], 'an event that just fits arrives')
})

async function limitStream (nats: NatsConnection, kilobytes: number) {
  const { streams } = await nats.jetstreamManager()
  const config: Partial<StreamConfig> = { max_bytes: kilobytes * 1_024, discard: 'new' as StreamConfig['discard'] }
  await streams.info('EVENTS_ALPHA').then(
    async () => await streams.update('EVENTS_ALPHA', config),
    async () => await streams.add({ name: 'EVENTS_ALPHA', subjects: ['evt.alpha.>'], ...config })
  )
}

t.test('while a stream is full, events wait in the outbox', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  const operatorNats = await operator(t, nats.url)
  await limitStream(operatorNats, 32)
  publisher().relay()
  await publishMany(db, 200)
  await sleep(1_000)
  const waiting = async () =>
    Number(
      (await db.selectFrom('outbox').select(sql<number>`count(*)`.as('count')).where('published_at', 'is', null)
        .executeTakeFirstOrThrow()).count
    )
  t.ok(await waiting() > 50 && await waiting() < 200)
  await limitStream(operatorNats, 1_024)
  consumer().consume()
  await until(haveEffects(db, 200))
  t.strictSame(await effects(db), upTo(200))
})

t.test('a stream never fills with events that every consumer has acknowledged', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  const operatorNats = await operator(t, nats.url)
  await limitStream(operatorNats, 32)
  consumer().consume()
  publisher().relay()
  await publishMany(db, 500)
  await until(haveEffects(db, 500))
  t.strictSame(await effects(db), upTo(500))
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

t.test('a stop is quick while NATS is down, or when it was never reached', async (t) => {
  const { nats, db, consumer, publisher } = await testBus(t)
  const [alpha, beta] = [publisher(), consumer()]
  alpha.relay()
  beta.consume()
  await publishOne(db, 1)
  await until(haveEffects(db, 1))
  await nats.kill()
  await publishOne(db, 2)
  const since = performance.now()
  await Promise.all([alpha.close(), beta.close()])
  t.ok(performance.now() - since < 4_000)

  const bus = connectBus(nats.url, { service: 'gamma', log })
  await bus.close()
})

t.test('a broker that freezes delays neither writers nor a stop, and nothing is lost', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  const [alpha, beta] = [publisher(), consumer()]
  alpha.relay()
  beta.consume()
  await publishMany(db, 10)
  await until(haveEffects(db, 10))
  process.kill(nats.pid!, 'SIGSTOP')
  t.teardown(() => {
    if (nats.pid) process.kill(nats.pid, 'SIGCONT')
  })
  await publishMany(db, 10, 10)
  await sleep(1_500)
  const since = performance.now()
  await Promise.all([alpha.close(), beta.close()])
  t.ok(performance.now() - since < 6_000, `well within a service's ten seconds, here ${performance.now() - since}`)

  publisher().relay()
  consumer().consume()
  process.kill(nats.pid!, 'SIGCONT')
  await until(haveEffects(db, 20))
  t.strictSame(await effects(db), upTo(20))
})

t.test('events published three days ago and claims of two weeks ago are deleted', async (t) => {
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
    { ...row, id: agedId('-73 hours'), published_at: null }
  ]).execute()
  await db.insertInto('processed_events').values(
    ['-15 days', '-13 days'].map((age) => ({ event_id: agedId(age), consumer: 'effects' }))
  ).execute()

  t.equal(await deleteExpired(db), 1)
  t.equal((await db.selectFrom('outbox').select('id').execute()).length, 2, 'an event that was never published stays')
  t.equal((await db.selectFrom('processed_events').select('event_id').execute()).length, 1)
  t.equal(await deleteExpired(db), 0)
})
