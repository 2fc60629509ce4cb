// It kills NATS and waits for redeliveries.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { nanos } from 'nats'
import { currentCorrelation, type Correlation, withLogFields } from '@tandem/process-kit'
import t, { type Test } from 'tap'
import { endsWithin, seededRandom, shuffle, until } from '@tandem/test-kit'
import { listDeadLetters, on, startConsumers } from './index.ts'
import { toEnvelope } from './envelope.ts'
import {
  durable,
  effects,
  Happened,
  haveEffects,
  operator,
  recordEffect,
  OtherHappened,
  publishOne,
  publishMany,
  readConsumer,
  untilPublished,
  upTo,
  testBus,
  type HappenedEvent
} from './test-bus.ts'

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

t.jobs = 3

async function hasConsumedAll (t: Test, url: string, service: string) {
  return await readConsumer(t, url, service).then(
    ({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0,
    () => false
  )
}

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
  t.strictSame(await listDeadLetters(db), [])
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

  consumer().consume(async ({ data }) => done.push(data.number))
  t.ok(await endsWithin(5_000, until(() => new Set(done).size === 20)), 'before the ack wait of the first expires')
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
