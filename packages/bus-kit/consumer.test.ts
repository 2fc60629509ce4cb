// Runs alone: it kills NATS, and waits for redeliveries.
import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { sql } from 'kysely'
import { AckPolicy, connect as connectNats, headers, nanos } from 'nats'
import t, { type Test } from 'tap'
import { requestReplay, parseNatsUrl, listParked, on, startConsumers, Unavailable } from './index.ts'
import { toEnvelope } from './envelope.ts'
import { effects, Happened, haveEffects, leaveEffect, OtherHappened, say, sayMany, until, untilPublished, upTo, world, type Db, type Happening } from './harness.ts'

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

t.setTimeout(100_000)
t.jobs = 3

/** Who publishes past the outbox, because he knows no better or means ill. */
async function operator (t: Test, url: string) {
  const nats = await connectNats(parseNatsUrl(url))
  t.teardown(() => nats.close())
  const publish = async (text: string, { id, type = Happened.type }: { id?: string, type?: string } = {}) => {
    const carried = headers()
    if (id) carried.set('Nats-Msg-Id', id)
    return await nats.jetstream().publish(`evt.${type}`, text, { headers: carried })
  }
  return { nats, publish }
}

/** The durable consumer of beta, in the hand of a process that does not answer. */
async function durable (t: Test, url: string) {
  const { nats } = await operator(t, url)
  const manager = await nats.jetstreamManager()
  await until(async () => await manager.streams.info('EVENTS_ALPHA').then(({ state }) => state.messages > 0, () => false))
  await manager.consumers.add('EVENTS_ALPHA', { durable_name: 'beta', ack_policy: AckPolicy.Explicit, ack_wait: nanos(10_000), filter_subject: 'evt.alpha.>' })
  return await nats.jetstream().consumers.get('EVENTS_ALPHA', 'beta')
}

async function heardAll (t: Test, url: string, service: string) {
  const manager = await (await operator(t, url)).nats.jetstreamManager()
  return await manager.consumers.info('EVENTS_ALPHA', service).then(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0, () => false)
}

async function parked (db: Db) {
  return (await listParked(db)).map(({ type, attempts }) => ({ type, attempts }))
}

/** Lets time pass for messages that wait to be tried again. */
async function hurry (db: Db) {
  await db.updateTable('failed_messages').set({ attempt_at: sql<Date>`now()` }).where('parked_at', 'is', null).execute()
}

t.test('a handler that fails twice is called a third time, and what comes after does not wait', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  const calls: number[] = []
  handler().hear(async (received) => {
    calls.push(received.data.number)
    if (received.data.number === 0 && calls.filter((number) => number === 0).length < 3) throw new Error('not yet')
    await leaveEffect(db, received)
  })
  await sayMany(db, 3)
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [0, 1, 2])
  t.equal(calls.filter((number) => number === 0).length, 3)
  t.strictSame(calls.slice(0, 3).sort((a, b) => a - b), [0, 1, 2], 'the others came before the second try')
  t.strictSame(await db.selectFrom('failed_messages').selectAll().execute(), [], 'nothing stays of what went well in the end')
})

t.test('each event of a thing has a higher sequence than the one before, and the same one at each try', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  const received: { number: number, sequence: number }[] = []
  handler().hear(async ({ data, sequence, ...rest }) => {
    received.push({ number: data.number, sequence })
    if (received.filter(({ number }) => number === data.number).length < 2) throw new Error('not yet')
    await leaveEffect(db, { data, sequence, ...rest })
  })
  for (let number = 0; number < 5; number++) await say(db, number, 'one thing')
  await until(haveEffects(db, 5))
  const sequences = upTo(5).map((number) => [...new Set(received.filter((each) => each.number === number).map(({ sequence }) => sequence))])
  t.ok(sequences.every((each) => each.length === 1), 'the same at each try')
  const rising = sequences.flat()
  t.ok(rising.every((sequence, index) => sequence > (rising[index - 1] ?? 0)), rising.join())
})

t.test('after ten failures an event is parked, and once mended it can be replayed and takes effect once', async (t) => {
  const { db, lines, speaker, handler } = await world(t)
  speaker().relay()
  let calls = 0
  let broken = true
  handler().hear(async (received) => {
    if (received.data.number === 0) calls++
    if (received.data.number === 0 && broken) throw new Error('this one is bad\0')
    await leaveEffect(db, received)
  })
  await sayMany(db, 2)
  await until(haveEffects(db, 1))
  await until(async () => {
    await hurry(db)
    return (await parked(db)).length > 0
  })
  t.equal(calls, 10)
  t.strictSame(await parked(db), [{ type: Happened.type, attempts: 10 }])
  t.match(await listParked(db), [{ error: /this one is bad/ }])
  t.equal(lines.filter(({ level }) => level === 'error').length, 1)

  t.equal(await requestReplay(db, 'all'), 1)
  await until(() => calls === 11)
  await until(async () => (await parked(db))[0]?.attempts === 11)
  t.strictSame(await effects(db), [1], 'what fails again stays parked')

  broken = false
  t.equal(await requestReplay(db, ['nothing']), 0)
  t.equal(await requestReplay(db, (await listParked(db)).map(({ key }) => key)), 1)
  await until(haveEffects(db, 2))
  await until(async () => (await parked(db)).length === 0)
  t.strictSame(await effects(db), [0, 1])
})

t.test('what cannot be read is parked at once, and the next event is handled at once', async (t) => {
  const { db, nats, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  await say(db, 0)
  await until(haveEffects(db, 1))
  const { publish } = await operator(t, nats.url)
  const fine = { id: crypto.randomUUID(), seq: 1, type: Happened.type, subject: 'thing', data: { number: 9 }, occurred_at: new Date() }
  await publish('{"half": ')
  await publish('\0\0 no JSON')
  await publish('{}')
  await publish(toEnvelope('alpha', { ...fine, data: { number: 'nine' } }), { id: 'other-shape' })
  await publish(toEnvelope('alpha', { ...fine, type: 'alpha.thing.ended.v1' }), { id: 'other-type' })
  const since = performance.now()
  await say(db, 1)
  await until(haveEffects(db, 2))
  t.ok(performance.now() - since < 1_000)

  await until(async () => (await parked(db)).length === 5)
  t.strictSame(await parked(db), Array(5).fill({ type: Happened.type, attempts: 1 }))
  t.match((await listParked(db)).find(({ key }) => key === 'other-shape')?.error, /\/number must be integer/)
  t.match((await listParked(db)).find(({ key }) => key === 'other-type')?.error, /it came as alpha\.thing\.happened\.v1/)
})

t.test('what nobody here hears is passed over, whatever is in it', async (t) => {
  const { db, nats, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  await say(db, 0)
  await until(haveEffects(db, 1))
  const { publish } = await operator(t, nats.url)
  await publish('nonsense', { type: 'alpha.thing.ended.v1' })
  await say(db, 1)
  await until(haveEffects(db, 2))
  t.strictSame(await parked(db), [])
})

t.test('an event that was delivered three times and in any order takes effect once', async (t) => {
  const { db, nats, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear()
  await say(db, 0)
  await until(haveEffects(db, 1))
  const { publish } = await operator(t, nats.url)
  const events = upTo(100).map((number) => toEnvelope('alpha', {
    id: crypto.randomUUID(), seq: number, type: Happened.type, subject: `thing ${number % 7}`, data: { number: number + 1 }, occurred_at: new Date()
  }))
  const shuffled = [...events, ...events, ...events].map((event) => ({ event, at: Math.random() })).sort((a, b) => a.at - b.at)
  for (const { event } of shuffled) await publish(event)
  await say(db, 101)
  await until(haveEffects(db, 102))
  await sleep(300)
  t.strictSame(await effects(db), upTo(102))
})

t.test('events that wait behind slow ones are not handed out a second time', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  const calls: number[] = []
  handler().hear(async ({ data }) => {
    await sleep(2_000)
    calls.push(data.number)
  })
  // Seven rounds of four at a time: the last begin long after the 10 s that the broker waits for an answer.
  await sayMany(db, 28)
  await until(() => calls.length === 28)
  await sleep(500)
  t.strictSame(calls.sort((a, b) => a - b), upTo(28))
})

t.test('a few handlers run at once, of those whose work batched many; what is about one thing keeps its order', async (t) => {
  const { nats, db, speaker, replica } = await world(t)
  const most = { few: 0, many: 0 }
  const order: number[] = []
  function hearAs (service: 'few' | 'many') {
    const { bus } = replica(service)
    let running = 0
    const consumers = startConsumers(bus, db, [on(Happened, async ({ data: { number } }) => {
      running++
      most[service] = Math.max(most[service], running)
      await sleep(20 - number % 20)
      if (service === 'many' && number < 10) order.push(number)
      running--
    }, { batched: service === 'many' })])
    t.teardown(() => consumers.stop())
  }
  speaker().relay()
  for (let number = 0; number < 10; number++) await say(db, number, 'one thing')
  await sayMany(db, 90, 10)
  await untilPublished(db)
  hearAs('few')
  hearAs('many')
  await until(async () => await heardAll(t, nats.url, 'few') && await heardAll(t, nats.url, 'many'))
  t.equal(most.few, 4)
  t.ok(most.many > 20, `${most.many} at once`)
  t.strictSame(order, upTo(10))
})

t.test('waiting for a service that is away counts as no failure', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  let calls = 0
  handler().hear(async (received) => {
    if (calls++ < 15) throw new Unavailable()
    await leaveEffect(db, received)
  })
  await say(db, 0)
  await until(async () => {
    await hurry(db)
    return await haveEffects(db, 1)()
  })
  t.equal(calls, 16)
  t.strictSame(await effects(db), [0])
})

t.test('but not for ever', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  handler().hear(async () => { throw new Unavailable() })
  await say(db, 0)
  await until(async () => (await db.selectFrom('failed_messages').select('key').execute()).length === 1)
  await db.updateTable('failed_messages').set({ first_failed_at: sql<Date>`now() - interval '15 days'` }).execute()
  await hurry(db)
  await until(async () => (await parked(db)).length === 1)
})

t.test('an event that kills whoever handles it is parked in the end', async (t) => {
  const { db, nats, speaker, handler } = await world(t)
  speaker().relay()
  await say(db, 0)
  const consumer = await durable(t, nats.url)
  for (let deaths = 0; deaths < 5; deaths++) (await consumer.next({ expires: 1_000 }))?.nak()

  let attempts: number | undefined
  const beta = handler()
  const consumers = beta.hear(async () => {
    attempts = (await db.selectFrom('failed_messages').select('attempts').executeTakeFirst())?.attempts
    throw new Error('would have died')
  })
  await until(() => attempts !== undefined)
  t.equal(attempts, 1, 'the try is written down before it is made')
  await consumers.stop()

  // As if it had died nine times more.
  await db.updateTable('failed_messages').set({ attempts: 10 }).execute()
  await hurry(db)
  attempts = undefined
  handler().hear(async () => { attempts = 11 })
  await until(async () => (await parked(db)).length === 1)
  t.equal(attempts, undefined)
  t.strictSame(await parked(db), [{ type: Happened.type, attempts: 10 }])
})

t.test('Postgres being away leaves events with the broker', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  let away = true
  const beta = handler()
  beta.hear(async (received) => {
    if (away) throw new Error('the connection ended')
    await leaveEffect(db, received)
  })
  await db.schema.alterTable('failed_messages').renameTo('gone').execute()
  await sayMany(db, 5)
  await sleep(1_000)
  away = false
  await db.schema.alterTable('gone').renameTo('failed_messages').execute()
  await until(haveEffects(db, 5))
  t.strictSame(await effects(db), upTo(5))
})

t.test('the trace of whoever recorded an event goes on where it is heard, also at the second try', async (t) => {
  const { db, lines, speaker, handler } = await world(t)
  speaker().relay()
  const traces: (string | undefined)[] = []
  handler().hear(async () => {
    traces.push(trace.getSpanContext(context.active())?.traceId)
    if (traces.length === 1) throw new Error('not yet')
  })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const active = trace.setSpanContext(context.active(), { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 })
  await context.with(active, async () => await say(db, 0))
  await until(() => traces.length === 2)
  t.strictSame(traces, [traceId, traceId])
  await until(() => lines.some(({ message }) => message === 'handled an event'))
  const { id: eventId } = await db.selectFrom('outbox').select('id').executeTakeFirstOrThrow()
  t.match(lines.filter(({ details }) => details['eventId'] === eventId), [
    { level: 'warn', details: { type: Happened.type, traceId, err: Error } },
    { level: 'info', message: 'handled an event', details: { type: Happened.type, traceId } }
  ])
})

t.test('stopping finishes what runs and hands back the rest, which the next process need not wait for', async (t) => {
  const { db, speaker, handler } = await world(t)
  speaker().relay()
  const begun: number[] = []
  const done: number[] = []
  const slow = async ({ data }: Happening) => {
    begun.push(data.number)
    await sleep(300)
    done.push(data.number)
  }
  const first = handler()
  const consumers = first.hear(slow)
  await sayMany(db, 20)
  await until(() => begun.length >= 4)
  await consumers.stop()
  t.same(done, begun)
  const sofar = done.length
  t.ok(sofar < 20)
  await sleep(400)
  t.equal(begun.length, sofar, 'nothing begins after the stop')

  const since = performance.now()
  handler().hear(async ({ data }) => done.push(data.number))
  await until(() => new Set(done).size === 20)
  t.ok(performance.now() - since < 5_000, 'long before the broker would have given up on the first')
})

t.test('a consumer may start long before the one it listens to', async (t) => {
  const { db, lines, speaker, handler } = await world(t)
  handler().hear()
  await sleep(1_200)
  speaker().relay()
  await say(db, 0)
  await until(haveEffects(db, 1))
  t.strictSame(await effects(db), [0])
  t.equal(lines.filter(({ message }) => message.includes('waiting for its stream')).length, 1)
})

t.test('a service hears several others, whatever becomes of one of them', async (t) => {
  const { db, nats, speaker, handler } = await world(t)
  speaker().relay()
  const beta = handler()
  const consumers = startConsumers(beta.bus, beta.db, [
    on(Happened, async (received) => await leaveEffect(beta.db, received)),
    on(OtherHappened, async (received) => await leaveEffect(beta.db, received))
  ])
  t.teardown(() => consumers.stop())
  await say(db, 0)
  await until(haveEffects(db, 1))

  const { nats: operating, publish } = await operator(t, nats.url)
  const { streams } = await operating.jetstreamManager()
  const sayOther = async (number: number) => await publish(toEnvelope('gamma', {
    id: crypto.randomUUID(), seq: number, type: OtherHappened.type, subject: 'thing', data: { number }, occurred_at: new Date()
  }), { type: OtherHappened.type })
  await streams.add({ name: 'EVENTS_GAMMA', subjects: ['evt.gamma.>'] })
  await sayOther(1)
  await until(haveEffects(db, 2))

  await streams.delete('EVENTS_GAMMA')
  await say(db, 2)
  await until(haveEffects(db, 3))
  await streams.add({ name: 'EVENTS_GAMMA', subjects: ['evt.gamma.>'] })
  await sayOther(3)
  await until(haveEffects(db, 4))
})
