// It kills, wipes, fills and freezes NATS.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { connect as connectNats, type NatsConnection, type StreamConfig } from 'nats'
import { connect } from '@tandem/database-kit'
import t, { type Test } from 'tap'
import { endsWithin, until } from '@tandem/test-kit'
import { connectBus, parseNatsUrl } from './index.ts'
import {
  effects,
  haveEffects,
  log,
  publishOne,
  publishMany,
  untilPublished,
  upTo,
  testBus,
  type Tables
} from './test-bus.ts'

// Messages that a killed broker had delivered come again after 5 s. Most of this file waits, so its tests run in
// parallel.
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
  const db = connect<Tables>(url, { log, maxConnections: 16, timeoutFactor: 10 })
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
    written: () => count,
    async stop () {
      isStopped = true
      await Promise.all(writers)
      return count
    }
  }
}

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
    // The writers never wait for the broker.
    const before = writers.written()
    await until(async () => writers.written() > before + 20)
    await nats.start()
  }
  await sleep(500)
  const count = await writers.stop()
  await until(haveEffects(db, count))
  t.strictSame(await effects(db), upTo(count))
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

t.test('a stop is quick while NATS is down, or when it was never reached', async (t) => {
  const { nats, db, consumer, publisher } = await testBus(t)
  const [alpha, beta] = [publisher(), consumer()]
  alpha.relay()
  beta.consume()
  await publishOne(db, 1)
  await until(haveEffects(db, 1))
  await nats.kill()
  await publishOne(db, 2)
  t.ok(await endsWithin(4_000, Promise.all([alpha.close(), beta.close()])))

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
  t.ok(await endsWithin(6_000, Promise.all([alpha.close(), beta.close()])), "well within a service's ten seconds")

  publisher().relay()
  consumer().consume()
  process.kill(nats.pid!, 'SIGCONT')
  await until(haveEffects(db, 20))
  t.strictSame(await effects(db), upTo(20))
})
