// It waits for retries, and kills what handles a message.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { nanos } from 'nats'
import { Unavailable } from '@tandem/process-kit'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { requestReplay, listDeadLetters } from './index.ts'
import { toEnvelope } from './envelope.ts'
import {
  durable,
  effects,
  Happened,
  haveEffects,
  operator,
  publishMany,
  publishOne,
  readConsumer,
  recordEffect,
  testBus,
  upTo,
  type Db
} from './test-bus.ts'

t.jobs = 3

// Due messages are polled once a second, so ten retries alone take ten seconds.
const RETRIES_TIMEOUT_SECONDS = 60

async function readDeadLetters (db: Db) {
  return (await listDeadLetters(db)).map(({ type, attempts }) => ({ type, attempts }))
}

/** Makes every waiting retry due now. */
async function makeDue (db: Db) {
  await db.updateTable('failed_messages').set({ next_attempt_at: sql<Date>`now()` }).where('parked_at', 'is', null)
    .execute()
}

t.test('a handler that fails twice is called a third time, and later events do not wait for it', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  publisher().relay()
  const calls: number[] = []
  consumer().consume(async (received) => {
    calls.push(received.data.number)
    // The others come while it fails, however busy the machine is.
    const isOver = calls.includes(1) && calls.includes(2) && calls.filter((number) => number === 0).length >= 3
    if (received.data.number === 0 && !isOver) throw new Error('not yet')
    await recordEffect(db, received)
  })
  await publishMany(db, 3)
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [0, 1, 2])
  t.match(
    await readConsumer(t, nats.url, 'beta'),
    { config: { ack_wait: nanos(5_000), max_deliver: -1 } },
    'what a killed process did not acknowledge comes again after five seconds, and as often as it takes'
  )
  t.strictSame(
    await db.selectFrom('failed_messages').select('key').execute(),
    [],
    'a message that succeeds in the end leaves no row'
  )
})

t.test('after ten failures an event is a dead letter; once the cause is fixed it can be replayed and takes effect once', async (t) => {
  const { db, lines, publisher, consumer } = await testBus(t)
  publisher().relay()
  let calls = 0
  let isBroken = true
  consumer().consume(async (received) => {
    if (received.data.number === 0) calls++
    if (received.data.number === 0 && isBroken) throw new Error('this one is bad\0')
    await recordEffect(db, received)
  })
  await publishMany(db, 2)
  await until(haveEffects(db, 1))
  await until(async () => {
    await makeDue(db)
    return (await readDeadLetters(db)).length > 0
  }, RETRIES_TIMEOUT_SECONDS)
  t.equal(calls, 10)
  t.strictSame(await readDeadLetters(db), [{ type: Happened.type, attempts: 10 }])
  t.match(await listDeadLetters(db), [{ error: /this one is bad/ }])
  t.equal(lines.filter(({ level }) => level === 'error').length, 1)

  t.equal(await requestReplay(db, 'all'), 1)
  await until(() => calls === 11)
  await until(async () => (await readDeadLetters(db))[0]?.attempts === 11)
  t.strictSame(await effects(db), [1], 'a message that fails again stays a dead letter')

  isBroken = false
  t.equal(await requestReplay(db, ['nothing']), 0)
  t.equal(await requestReplay(db, (await listDeadLetters(db)).map(({ key }) => key)), 1)
  await until(haveEffects(db, 2))
  await until(async () => (await readDeadLetters(db)).length === 0)
  t.strictSame(await effects(db), [0, 1])
})

t.test('an unreadable message is a dead letter at once, and the next event is handled at once', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  const time = async (number: number) => {
    const since = performance.now()
    await publishOne(db, number)
    await until(haveEffects(db, number + 1))
    return performance.now() - since
  }
  await time(0)
  const usualMs = await time(1)
  const { publish } = await operator(t, nats.url)
  const valid = {
    id: crypto.randomUUID(),
    seq: 1,
    type: Happened.type,
    subject: 'thing',
    data: { number: 9 },
    occurred_at: new Date()
  }
  await publish('{"half": ')
  await publish('\0\0 no JSON')
  await publish('{}')
  await publish(toEnvelope('alpha', { ...valid, data: { number: 'nine' } }), { id: 'other-shape' })
  await publish(toEnvelope('alpha', { ...valid, type: 'alpha.thing.ended.v1' }), { id: 'other-type' })
  // A second, or on a busy machine ten times what another event takes.
  t.ok(await time(2) < Math.max(1_000, 10 * usualMs))

  await until(async () => (await readDeadLetters(db)).length === 5)
  t.strictSame(await readDeadLetters(db), Array(5).fill({ type: Happened.type, attempts: 1 }))
  t.match((await listDeadLetters(db)).find(({ key }) => key === 'other-shape')?.error, /\/number must be integer/)
  t.match(
    (await listDeadLetters(db)).find(({ key }) => key === 'other-type')?.error,
    /it was published as alpha\.thing\.happened\.v1/
  )
})

t.test('a call that fails because another service is unavailable does not count as an attempt', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  let calls = 0
  consumer().consume(async (received) => {
    if (calls++ < 15) throw new Unavailable()
    await recordEffect(db, received)
  })
  await publishOne(db, 0)
  await until(async () => {
    await makeDue(db)
    return await haveEffects(db, 1)()
  }, RETRIES_TIMEOUT_SECONDS)
  t.equal(calls, 16)
  t.strictSame(await effects(db), [0])
})

t.test('after 14 days of unavailability the message is a dead letter', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume(async () => {
    throw new Unavailable()
  })
  await publishOne(db, 0)
  await until(async () => (await db.selectFrom('failed_messages').select('key').execute()).length === 1)
  await db.updateTable('failed_messages').set({ first_failed_at: sql<Date>`now() - interval '15 days'` }).execute()
  await makeDue(db)
  await until(async () => (await readDeadLetters(db)).length === 1)
})

t.test('an event that crashes every process that handles it is a dead letter in the end', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  await publishOne(db, 0)
  const durableConsumer = await durable(t, nats.url)
  for (let crashes = 0; crashes < 5; crashes++) (await durableConsumer.next({ expires: 1_000 }))?.nak()

  let attempts: number | undefined
  const beta = consumer()
  const consumers = beta.consume(async () => {
    attempts = (await db.selectFrom('failed_messages').select('attempts').executeTakeFirst())?.attempts
    throw new Error('would have crashed')
  })
  await until(() => attempts !== undefined)
  t.equal(attempts, 1, 'the attempt is counted before it starts')
  await consumers.stop()

  // As if it had crashed nine more times.
  await db.updateTable('failed_messages').set({ attempts: 10 }).execute()
  await makeDue(db)
  attempts = undefined
  consumer().consume(async () => {
    attempts = 11
  })
  await until(async () => (await readDeadLetters(db)).length === 1)
  t.equal(attempts, undefined)
  t.strictSame(await readDeadLetters(db), [{ type: Happened.type, attempts: 10 }])
})

t.test('while Postgres is down, events stay with the broker', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  let isDown = true
  const beta = consumer()
  beta.consume(async (received) => {
    if (isDown) throw new Error('the connection ended')
    await recordEffect(db, received)
  })
  await sql`alter table failed_messages add constraint broken check (false) not valid`.execute(db)
  await publishMany(db, 5)
  await sleep(1_000)
  isDown = false
  await sql`alter table failed_messages drop constraint broken`.execute(db)
  await until(haveEffects(db, 5))
  t.strictSame(await effects(db), upTo(5))
})
