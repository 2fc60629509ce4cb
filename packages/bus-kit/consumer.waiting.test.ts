// It kills NATS and waits for redeliveries.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { sql } from 'kysely'
import { AckPolicy, connect as connectNats, headers, nanos } from 'nats'
import { currentCorrelation, type Correlation, withLogFields, Unavailable } from '@tandem/process-kit'
import t, { type Test } from 'tap'
import { seededRandom, shuffle, until } from '@tandem/test-kit'
import { requestReplay, parseNatsUrl, listDeadLetters, on, startConsumers } from './index.ts'
import { toEnvelope } from './envelope.ts'
import {
  effects,
  Happened,
  haveEffects,
  recordEffect,
  OtherHappened,
  publishOne,
  publishMany,
  untilPublished,
  upTo,
  testBus,
  type Db,
  type HappenedEvent
} from './test-bus.ts'

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

t.jobs = 3

// Due messages are polled once a second, so ten retries alone take ten seconds.
const RETRIES_TIMEOUT_SECONDS = 60

/** A client with every right, which publishes past the outbox. */
async function operator (t: Test, url: string) {
  const nats = await connectNats(parseNatsUrl(url))
  t.teardown(() => nats.close())
  const publish = async (text: string, { id, type = Happened.type }: { id?: string, type?: string } = {}) => {
    const messageHeaders = headers()
    if (id) messageHeaders.set('Nats-Msg-Id', id)
    return await nats.jetstream().publish(`evt.${type}`, text, { headers: messageHeaders })
  }
  return { nats, publish }
}

/** The durable consumer of beta as an earlier version created it, used by a process that never acknowledges. */
async function durable (t: Test, url: string) {
  const { nats } = await operator(t, url)
  const manager = await nats.jetstreamManager()
  await until(async () =>
    await manager.streams.info('EVENTS_ALPHA').then(({ state }) => state.messages > 0, () => false)
  )
  await manager.consumers.add('EVENTS_ALPHA', {
    durable_name: 'beta',
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(10_000),
    filter_subject: 'evt.alpha.>'
  })
  return await nats.jetstream().consumers.get('EVENTS_ALPHA', 'beta')
}

async function readConsumer (t: Test, url: string, service: string) {
  const manager = await (await operator(t, url)).nats.jetstreamManager()
  return await manager.consumers.info('EVENTS_ALPHA', service)
}

async function hasConsumedAll (t: Test, url: string, service: string) {
  return await readConsumer(t, url, service).then(
    ({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0,
    () => false
  )
}

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
    if (received.data.number === 0 && calls.filter((number) => number === 0).length < 3) throw new Error('not yet')
    await recordEffect(db, received)
  })
  await publishMany(db, 3)
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [0, 1, 2])
  t.equal(calls.filter((number) => number === 0).length, 3)
  t.match(
    await readConsumer(t, nats.url, 'beta'),
    { config: { ack_wait: nanos(5_000), max_deliver: -1 } },
    'what a killed process did not acknowledge comes again after five seconds, and as often as it takes'
  )
  t.strictSame(calls.slice(0, 3).sort((a, b) => a - b), [0, 1, 2], 'the others came before the second attempt')
  t.strictSame(
    await db.selectFrom('failed_messages').select('key').execute(),
    [],
    'a message that succeeds in the end leaves no row'
  )
})

t.test('each event of a subject has a higher sequence than the one before, and the same at each attempt', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  const received: { number: number, sequence: number }[] = []
  consumer().consume(async ({ data, sequence, ...rest }) => {
    received.push({ number: data.number, sequence })
    if (received.filter(({ number }) => number === data.number).length < 2) throw new Error('not yet')
    await recordEffect(db, { data, sequence, ...rest })
  })
  for (let number = 0; number < 5; number++) await publishOne(db, number, 'one subject')
  await until(haveEffects(db, 5))
  const sequences = upTo(5).map((
    number
  ) => [...new Set(received.filter((each) => each.number === number).map(({ sequence }) => sequence))])
  t.ok(sequences.every((each) => each.length === 1), 'the same at each attempt')
  const rising = sequences.flat()
  t.ok(rising.every((sequence, index) => sequence > (rising[index - 1] ?? 0)), rising.join())
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

t.test('a type without a handler is skipped, whatever it contains', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  await publishOne(db, 0)
  await until(haveEffects(db, 1))
  const { publish } = await operator(t, nats.url)
  await publish('nonsense', { type: 'alpha.thing.ended.v1' })
  await publishOne(db, 1)
  await until(haveEffects(db, 2))
  t.strictSame(await readDeadLetters(db), [])
})

t.test('an event that is delivered three times, in any order, takes effect once', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  await publishOne(db, 0)
  await until(haveEffects(db, 1))
  const { publish } = await operator(t, nats.url)
  const events = upTo(100).map((number) =>
    toEnvelope('alpha', {
      id: crypto.randomUUID(),
      seq: number,
      type: Happened.type,
      subject: `thing ${number % 7}`,
      data: { number: number + 1 },
      occurred_at: new Date()
    })
  )
  for (const event of shuffle([...events, ...events, ...events], seededRandom(t))) await publish(event)
  await publishOne(db, 101)
  await until(haveEffects(db, 102))
  await sleep(300)
  t.strictSame(await effects(db), upTo(102))
})

t.test('events that wait behind slow ones are not delivered twice', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  const calls: number[] = []
  consumer().consume(async ({ data }) => {
    await sleep(2_000)
    calls.push(data.number)
  })
  // Seven rounds of four at a time: the last start long after the broker's ack wait of 5 s.
  await publishMany(db, 28)
  await until(() => calls.length === 28)
  await sleep(500)
  t.strictSame(calls.sort((a, b) => a - b), upTo(28))
})

t.test('a few handlers run at once, and many batched ones; events of one subject keep their order', async (t) => {
  const { nats, db, publisher, replica } = await testBus(t)
  const maxRunning = { few: 0, many: 0 }
  const order: number[] = []
  function consumeAs (service: 'few' | 'many') {
    const { bus } = replica(service)
    let running = 0
    const consumers = startConsumers(bus, db, [on(Happened, async ({ data: { number } }) => {
      running++
      maxRunning[service] = Math.max(maxRunning[service], running)
      await sleep(20 - number % 20)
      if (service === 'many' && number < 10) order.push(number)
      running--
    }, { batched: service === 'many' })])
    t.teardown(() => consumers.stop())
  }
  publisher().relay()
  for (let number = 0; number < 10; number++) await publishOne(db, number, 'one subject')
  await publishMany(db, 90, 10)
  await untilPublished(db)
  consumeAs('few')
  consumeAs('many')
  await until(async () => await hasConsumedAll(t, nats.url, 'few') && await hasConsumedAll(t, nats.url, 'many'))
  t.equal(maxRunning.few, 4)
  t.ok(maxRunning.many > 20, `${maxRunning.many} at once`)
  t.strictSame(order, upTo(10))
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

t.test('what a killed process held comes again after five seconds, also if an earlier version created the consumer', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  await publishOne(db, 0)
  const held = await (await durable(t, nats.url)).next({ expires: 1_000 })
  const heldAt = Date.now()
  t.ok(held)
  const calls: number[] = []
  consumer().consume(async ({ data }) => void calls.push(data.number))
  await until(() => calls.length === 1)
  t.ok(Date.now() - heldAt < 8_000, `${Date.now() - heldAt} ms`)
  t.match(await readConsumer(t, nats.url, 'beta'), { config: { ack_wait: nanos(5_000), max_ack_pending: 1_024 } })
})

t.test('a consumer is not created together with its stream, because NATS could leave it without events', async (t) => {
  const { nats, db, publisher, consumer } = await testBus(t)
  const { nats: operatorNats } = await operator(t, nats.url)
  const { streams } = await operatorNats.jetstreamManager()
  const beta = consumer()
  await until(() => beta.bus.current() !== undefined)
  const { created } = await streams.add({ name: 'EVENTS_ALPHA', subjects: ['evt.alpha.>'] })
  beta.consume()
  publisher().relay()
  await publishOne(db, 1)
  await until(haveEffects(db, 1))
  const { created: consumerCreated } = await readConsumer(t, nats.url, 'beta')
  t.ok(Date.parse(consumerCreated) - Date.parse(created) >= 200)
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

t.test('the trace and the request id of the publisher continue in the handler, also at the second attempt', async (t) => {
  const { db, lines, publisher, consumer } = await testBus(t)
  publisher().relay()
  const seen: Correlation[] = []
  consumer().consume(async () => {
    seen.push(currentCorrelation())
    if (seen.length === 1) throw new Error('not yet')
  })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const requestId = randomUUID()
  const active = withLogFields(
    trace.setSpanContext(context.active(), { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 }),
    () => ({ requestId })
  )
  await context.with(active, async () => await publishOne(db, 0))
  await until(() => seen.length === 2)
  await until(() => lines.some(({ message }) => message === 'handled an event'))
  const { id: eventId } = await db.selectFrom('outbox').select('id').executeTakeFirstOrThrow()
  for (const each of seen) t.match(each, { traceparent: traceId, requestId, eventId })
  t.match(lines.filter(({ details }) => details['eventId'] === eventId), [
    { level: 'warn', details: { type: Happened.type, traceId, requestId, err: Error } },
    { level: 'info', message: 'handled an event', details: { type: Happened.type, traceId, requestId } }
  ])
})

t.test('a stop finishes running handlers and hands back the rest, which the next process gets soon', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  const started: number[] = []
  const done: number[] = []
  const slow = async ({ data }: HappenedEvent) => {
    started.push(data.number)
    await sleep(300)
    done.push(data.number)
  }
  const first = consumer()
  const consumers = first.consume(slow)
  await publishMany(db, 20)
  await until(() => started.length >= 4)
  await consumers.stop()
  t.same(done, started)
  const doneAtStop = done.length
  t.ok(doneAtStop < 20)
  await sleep(400)
  t.equal(started.length, doneAtStop, 'nothing starts after the stop')

  const since = performance.now()
  consumer().consume(async ({ data }) => done.push(data.number))
  await until(() => new Set(done).size === 20)
  t.ok(performance.now() - since < 5_000, 'long before the ack wait of the first expires')
})

t.test('a consumer waits for a publisher that may never come, silently and ever less often, and misses nothing', async (t) => {
  const { db, nats, lines, publisher, consumer } = await testBus(t)
  const { nats: operatorNats } = await operator(t, nats.url)
  let attempts = 0
  operatorNats.subscribe('$JS.API.CONSUMER.INFO.EVENTS_ALPHA.beta', { callback: () => attempts++ })
  await operatorNats.flush()
  consumer().consume()
  await sleep(5_000)
  t.ok(attempts > 0 && attempts <= 4, `${attempts} attempts`)
  t.strictSame(lines.map(({ message }) => message), ['connected to NATS'])
  publisher().relay()
  await publishOne(db, 0)
  await until(haveEffects(db, 1))
  t.strictSame(await effects(db), [0])
})

t.test('a service consumes from several others, even when one of them fails', async (t) => {
  const { db, nats, publisher, consumer } = await testBus(t)
  publisher().relay()
  const beta = consumer()
  const consumers = startConsumers(beta.bus, beta.db, [
    on(Happened, async (received) => await recordEffect(beta.db, received)),
    on(OtherHappened, async (received) => await recordEffect(beta.db, received))
  ])
  t.teardown(() => consumers.stop())
  await publishOne(db, 0)
  await until(haveEffects(db, 1))

  const { nats: operatorNats, publish } = await operator(t, nats.url)
  const { streams } = await operatorNats.jetstreamManager()
  const publishOther = async (number: number) =>
    await publish(
      toEnvelope('gamma', {
        id: crypto.randomUUID(),
        seq: number,
        type: OtherHappened.type,
        subject: 'thing',
        data: { number },
        occurred_at: new Date()
      }),
      { type: OtherHappened.type }
    )
  await streams.add({ name: 'EVENTS_GAMMA', subjects: ['evt.gamma.>'] })
  await publishOther(1)
  await until(haveEffects(db, 2))

  await streams.delete('EVENTS_GAMMA')
  await publishOne(db, 2)
  await until(haveEffects(db, 3))
  await streams.add({ name: 'EVENTS_GAMMA', subjects: ['evt.gamma.>'] })
  await publishOther(3)
  await until(haveEffects(db, 4))
})
