// Runs alone: it kills NATS, and measures how soon an event is out.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { connect as connectNats, type NatsConnection, type StreamConfig } from 'nats'
import { defineEvent } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import Type from 'typebox'
import t, { type Test } from 'tap'
import { clearOld } from './relay.ts'
import { connectBus, parseNatsUrl, publish, publishSql } from './index.ts'
import { effects, Happened, haveEffects, log, say, sayMany, until, untilPublished, upTo, world, type Db, type Tables } from './harness.ts'

// What a killed broker had handed out comes again after 10 s, so most of this file is waiting, side by side.
t.setTimeout(100_000)
t.jobs = 3

async function operator (t: Test, url: string) {
  const nats = await connectNats({ ...parseNatsUrl(url), maxReconnectAttempts: -1, reconnectTimeWait: 50 })
  t.teardown(() => nats.close())
  return nats
}

async function stored (nats: NatsConnection) {
  return (await (await nats.jetstreamManager()).streams.info('EVENTS_ALPHA')).state.messages
}

/** 16 clients that write all the time; `stop` returns how many of their transactions were committed. */
function startWriters (t: Test, url: string) {
  const db = connect<Tables>(url, { log, maxConnections: 16 })
  let stopped = false
  let count = 0
  const writers = Array.from({ length: 16 }, async () => {
    while (!stopped) {
      await say(db, count++)
      await sleep(5)
    }
  })
  t.teardown(() => db.destroy())
  return {
    async stop () {
      stopped = true
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

// Alone, as it measures time.
t.test('an event is heard soon after its commit, also under load', { buffered: false }, async (t) => {
  const { url, speaker, handler } = await world(t)
  const committed = new Map<number, number>()
  const received = new Map<number, number>()
  speaker().relay()
  handler().hear(async ({ data }) => received.set(data.number, performance.now()))
  const db = connect<Tables>(url, { log, maxConnections: 9 })
  t.teardown(() => db.destroy())
  await say(db, -1)
  await until(() => received.has(-1))

  let stopped = false
  const trips = timeRoundTrips(db, () => stopped)
  await Promise.all(upTo(8).map(async (writer) => {
    for (let number = writer; number < 800; number += 8) {
      await say(db, number)
      committed.set(number, performance.now())
      await sleep(10)
    }
  }))
  await until(() => received.size === 801)
  stopped = true
  const roundTrip = median(await trips)
  const waits = [...committed].map(([number, at]) => received.get(number)! - at)
  // On a machine that is busy with other things, everything takes its multiple of a round trip to Postgres.
  t.ok(median(waits) < Math.max(20, 30 * roundTrip), `half of them within 20 ms, here ${median(waits)} where a round trip takes ${roundTrip}`)
})

t.test('what was rolled back is never said', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  await t.rejects(db.transaction().execute(async (trx) => {
    await publish(trx, Happened, 'thing', { number: 13 })
    throw new Error('changed my mind')
  }), { message: 'changed my mind' })
  await say(db, 1)
  await until(haveEffects(db, 1))
  await sleep(200)
  t.strictSame(await effects(db), [1])
})

t.test('a change that is one statement says its event once for each row, with what only Postgres knows, or not at all', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  const change = async (rows: number, text: string) => await sql`
    with changed as (select 4 + n as number from generate_series(1, ${rows}::int) n),
    told as (${publishSql(Happened, 'thing', { number: sql<number>`changed.number`, text }, sql`changed`)})
    select from changed`.execute(db)
  await change(0, 'none')
  await change(3, 'a "quoted" text')
  await t.rejects(sql`with told as (${publishSql(Happened, 'thing', { number: 99 }, sql`(values (1)) as changed`)}) select 1 / (random() * 0)::int`.execute(db))
  await until(haveEffects(db, 3))
  await sleep(200)
  t.strictSame(await effects(db), [5, 6, 7])
  t.equal((await db.selectFrom('outbox').select('data').orderBy('seq').executeTakeFirstOrThrow().then(({ data }) => data as { text: string })).text, 'a "quoted" text')
})

t.test('what is not of the event\'s shape cannot be recorded, and the error does not tell what was in it', async (t) => {
  const { db } = await world(t)
  const wrong = db.transaction().execute(async (trx) => await publish(trx, Happened, 'thing', { number: 'secret' as unknown as number }))
  await t.rejects(wrong, { message: /alpha\.thing\.happened\.v1.*number/ })
  await t.rejects(wrong, { message: /^(?!.*secret)/ })
})

t.test('what is written while NATS is away is heard once it returns', async (t) => {
  const { nats, db, speaker, handler } = await world(t)
  await nats.kill()
  speaker().relay()
  handler().hear()
  await sayMany(db, 500)
  await sleep(500)
  await nats.start()
  await until(haveEffects(db, 500))
  t.strictSame(await effects(db), upTo(500))
})

t.test('a broker that is killed over and over loses nothing, and nothing takes effect twice', async (t) => {
  const { nats, db, url, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
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
  const { nats, db, url, speaker, handler } = await world(t)
  const alpha = speaker()
  alpha.relay()
  handler().hear()
  const writers = startWriters(t, url)
  await sleep(1_000)
  await nats.wipe()
  await sleep(1_000)
  const count = await writers.stop()
  await until(haveEffects(db, count))
  t.strictSame(await effects(db), upTo(count))
  await untilPublished(db)
  const operating = await operator(t, nats.url)
  t.equal(await stored(operating), count, 'the stream has each of them once')
})

t.test('a broker that was wiped while nobody said anything gets everything again', async (t) => {
  const { nats, db, speaker, handler } = await world(t)
  const alpha = speaker()
  alpha.relay()
  await sayMany(db, 1_200)
  await untilPublished(db)
  await nats.wipe()
  const operating = await operator(t, nats.url)
  await until(async () => await stored(operating).catch(() => 0) === 1_200)
  await say(db, 1_200)
  const received = new Set<number>()
  handler().hear(async ({ data }) => received.add(data.number))
  await until(() => received.size === 1_201)
})

t.test('a stream that is deleted under a standing connection is made and filled again', async (t) => {
  const { nats, db, speaker } = await world(t)
  speaker().relay()
  await sayMany(db, 20)
  await untilPublished(db)
  const operating = await operator(t, nats.url)
  await (await operating.jetstreamManager()).streams.delete('EVENTS_ALPHA')
  await say(db, 20)
  await until(async () => await stored(operating).catch(() => 0) === 21)
  await untilPublished(db)
  t.equal(await stored(operating), 21)
})

t.test('a broker that lost the end of its stream gets it again', async (t) => {
  const { nats, db, speaker } = await world(t)
  const alpha = speaker()
  alpha.relay()
  await sayMany(db, 30)
  await untilPublished(db)
  await alpha.close()
  // As after a power cut: the rows say that there was more than the stream has.
  await db.updateTable('outbox').set({ stream_seq: sql`stream_seq + 1000` }).where('seq', '>', 20).execute()
  const before = await db.selectFrom('outbox').select(['seq', 'published_at as at']).orderBy('seq').execute()
  speaker().relay()
  await until(async () => {
    const row = await db.selectFrom('outbox').select(['published_at as at', 'stream_seq']).orderBy('seq', 'desc').limit(1).executeTakeFirstOrThrow()
    return row.at !== null && row.stream_seq === 30
  })
  const after = await db.selectFrom('outbox').select(['seq', 'published_at as at']).orderBy('seq').execute()
  t.strictSame(after.slice(0, 20), before.slice(0, 20), 'what it still has is not said again')
  t.equal(await stored(await operator(t, nats.url)), 30, 'the broker drops what it knows by name')
})

t.test('a restart of the broker is no reason to say anything again', async (t) => {
  const { nats, db, speaker } = await world(t)
  speaker().relay()
  await sayMany(db, 20)
  await untilPublished(db)
  const published = async () => await db.selectFrom('outbox').select(['seq', 'published_at']).orderBy('seq').execute()
  const before = await published()
  await nats.kill()
  await nats.start()
  await say(db, 20)
  await untilPublished(db)
  t.strictSame((await published()).slice(0, 20), before)
})

t.test('two replicas share the work, and one goes on when the other is gone', async (t) => {
  const { db, speaker, handler } = await world(t)
  const [first, second] = [speaker(), speaker()]
  first.relay()
  second.relay()
  const received = [0, 0]
  for (const index of [0, 1]) {
    handler().hear(async () => {
      await sleep(2)
      received[index]!++
    })
  }
  await sayMany(db, 600)
  await until(() => received[0]! + received[1]! >= 600)
  await sleep(100)
  t.equal(received[0]! + received[1]!, 600, 'each event is heard by one of them')
  t.ok(Math.min(...received) > 100, `neither did it alone: ${received.join(' and ')}`)

  await first.close()
  await say(db, 600)
  await until(() => received[0]! + received[1]! === 601)
})

t.test('events about one thing come in their order, though two relays take turns', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  speaker().relay()
  const received = new Map<string, number[]>()
  handler().hear(async ({ subject, data }) => {
    await sleep(Math.random() * 4)
    received.set(subject, [...received.get(subject) ?? [], data.number])
  })
  await Promise.all(['a', 'b', 'c'].map(async (subject) => {
    for (const number of upTo(60)) await say(db, number, subject)
  }))
  await until(() => [...received.values()].flat().length === 180)
  for (const subject of ['a', 'b', 'c']) t.strictSame(received.get(subject), upTo(60))
})

t.test('an event of another service is not published, and stands in nobody\'s way', async (t) => {
  const { db, speaker, handler } = await world(t)
  const Foreign = defineEvent('beta.thing.happened.v1', Type.Object({}))
  speaker().relay()
  handler().hear()
  await db.transaction().execute(async (trx) => await publish(trx, Foreign, 'thing', {}))
  await say(db, 1, 'thing')
  await until(haveEffects(db, 1))
  t.match(await db.selectFrom('outbox').select('refused').orderBy('seq').execute(), [{ refused: /is not for alpha to say/ }, { refused: null }])
})

t.test('an event that is too big for NATS waits for a person and stands in nobody\'s way', async (t) => {
  const { db, lines, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  // As a statement could, whose data nobody can measure beforehand.
  const sayMuch = async (number: number, length: number) => {
    const values = { type: Happened.type, subject: 'thing', data: JSON.stringify({ number, text: 'x'.repeat(length) }), traceparent: null }
    await db.insertInto('outbox').values(values).execute()
  }
  await sayMuch(0, 70_000)
  await sayMuch(1, 2_000_000)
  await say(db, 2, 'thing')
  await until(haveEffects(db, 1))
  t.strictSame(await effects(db), [2])
  t.equal(lines.filter(({ level }) => level === 'error').length, 2)

  await db.updateTable('outbox').set({ data: JSON.stringify({ number: 0 }), refused: null }).where('seq', '=', 1).execute()
  await until(haveEffects(db, 2))
  t.strictSame(await effects(db), [0, 2])
})

t.test('an event that no message could hold is refused where it is recorded, and its change with it', async (t) => {
  const { db, speaker, handler } = await world(t)
  const sayMuch = async (number: number, length: number) => await db.transaction().execute(async (trx) => {
    await say(db, 100 + number)
    await publish(trx, Happened, 'thing', { number, text: 'ä'.repeat(length) })
  })
  await t.rejects(sayMuch(0, 35_000), /alpha.thing.happened.v1 is too big to be published: 70\d{3} bytes, and at most 64512 fit/)
  t.equal((await db.selectFrom('outbox').select('id').execute()).length, 1, 'only what was said beside it')

  await sayMuch(1, 32_200)
  speaker().relay()
  handler().hear()
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [1, 100, 101], 'what just fits arrives')
})

async function smallStream (nats: NatsConnection, kilobytes: number) {
  const { streams } = await nats.jetstreamManager()
  const config: Partial<StreamConfig> = { max_bytes: kilobytes * 1_024, discard: 'new' as StreamConfig['discard'] }
  await streams.info('EVENTS_ALPHA').then(
    async () => await streams.update('EVENTS_ALPHA', config),
    async () => await streams.add({ name: 'EVENTS_ALPHA', subjects: ['evt.alpha.>'], ...config }))
}

t.test('a full stream makes events wait in the outbox until there is room', async (t) => {
  const { nats, db, speaker, handler } = await world(t)
  const operating = await operator(t, nats.url)
  await smallStream(operating, 32)
  speaker().relay()
  await sayMany(db, 200)
  await sleep(1_000)
  const waiting = async () => Number((await db.selectFrom('outbox').select(sql<number>`count(*)`.as('count')).where('published_at', 'is', null).executeTakeFirstOrThrow()).count)
  t.ok(await waiting() > 50 && await waiting() < 200)
  await smallStream(operating, 1_024)
  handler().hear()
  await until(haveEffects(db, 200))
  t.strictSame(await effects(db), upTo(200))
})

t.test('a stream never fills with what everybody has heard', async (t) => {
  const { nats, db, speaker, handler } = await world(t)
  const operating = await operator(t, nats.url)
  await smallStream(operating, 32)
  handler().hear()
  speaker().relay()
  await sayMany(db, 500)
  await until(haveEffects(db, 500))
  t.strictSame(await effects(db), upTo(500))
})

t.test('stopping publishes what was committed before', async (t) => {
  const { db, speaker } = await world(t)
  const alpha = speaker()
  const relay = alpha.relay()
  await say(db, 0)
  await untilPublished(db)
  await sayMany(db, 450, 1)
  await relay.stop()
  t.equal(await db.selectFrom('outbox').select('id').where('published_at', 'is', null).executeTakeFirst(), undefined)
})

t.test('stopping takes no long time while NATS is away, or before it was ever reached', async (t) => {
  const { nats, db, handler, speaker } = await world(t)
  const [alpha, beta] = [speaker(), handler()]
  alpha.relay()
  beta.hear()
  await say(db, 1)
  await until(haveEffects(db, 1))
  await nats.kill()
  await say(db, 2)
  const since = performance.now()
  await Promise.all([alpha.close(), beta.close()])
  t.ok(performance.now() - since < 4_000)

  const bus = connectBus(nats.url, { service: 'gamma', log })
  await bus.close()
})

t.test('a broker that freezes holds up neither writers nor a stop, and nothing is lost', async (t) => {
  const { nats, db, speaker, handler } = await world(t)
  const [alpha, beta] = [speaker(), handler()]
  alpha.relay()
  beta.hear()
  await sayMany(db, 10)
  await until(haveEffects(db, 10))
  process.kill(nats.pid!, 'SIGSTOP')
  t.teardown(() => { if (nats.pid) process.kill(nats.pid, 'SIGCONT') })
  await sayMany(db, 10, 10)
  await sleep(1_500)
  const since = performance.now()
  await Promise.all([alpha.close(), beta.close()])
  t.ok(performance.now() - since < 6_000, `well within a service's ten seconds, here ${performance.now() - since}`)

  speaker().relay()
  handler().hear()
  process.kill(nats.pid!, 'SIGCONT')
  await until(haveEffects(db, 20))
  t.strictSame(await effects(db), upTo(20))
})

t.test('what was published three days ago, and ids spent two weeks ago, are cleared', async (t) => {
  const { db } = await world(t)
  const agedId = (age: string) => sql<string>`uuidv7(${age}::interval)`
  const row = { type: Happened.type, subject: 'thing', data: '{}', traceparent: null, refused: null, stream_made_at: null, stream_seq: null }
  await db.insertInto('outbox').values([
    { ...row, id: agedId('-73 hours'), published_at: new Date() },
    { ...row, id: agedId('-71 hours'), published_at: new Date() },
    { ...row, id: agedId('-73 hours'), published_at: null }
  ]).execute()
  await db.insertInto('processed_events').values(['-15 days', '-13 days'].map((age) => ({ event_id: agedId(age), consumer: 'effects' }))).execute()

  t.equal(await clearOld(db), 1)
  t.equal((await db.selectFrom('outbox').select('id').execute()).length, 2, 'what was never published stays')
  t.equal((await db.selectFrom('processed_events').select('event_id').execute()).length, 1)
  t.equal(await clearOld(db), 0)
})
