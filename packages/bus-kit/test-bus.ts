import { defineEvent } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { testDatabase } from '@tandem/database-kit/testing'
import { startNats, until } from '@tandem/test-kit'
import { sql, type Kysely } from 'kysely'
import { AckPolicy, connect as connectNats, headers, nanos } from 'nats'
import type { Test } from 'tap'
import Type from 'typebox'
import {
  connectBus,
  startStreamManager,
  natsRights,
  on,
  parseNatsUrl,
  publish,
  claimOnce,
  startConsumers,
  startRelay,
  STREAM_MANAGER_USER,
  type FailedMessageTables,
  type ReceivedEvent,
  type ProcessedEventTables,
  type OutboxTables,
  type StreamManager
} from './index.ts'

// Shared by the tests of this kit: the service `alpha` publishes `Happened`, `beta` consumes it.

export interface Tables extends OutboxTables, ProcessedEventTables, FailedMessageTables {
  effects: { event_id: string, subject: string, number: number }
}

export type Db = Kysely<Tables>

export const Happened = defineEvent(
  'alpha.thing.happened.v1',
  Type.Object({ number: Type.Integer(), text: Type.Optional(Type.String()) })
)
export const OtherHappened = defineEvent('gamma.thing.happened.v1', Type.Object({ number: Type.Integer() }))
export type HappenedEvent = ReceivedEvent<{ number: number, text?: string }>

export const log = { info () {}, warn () {}, error () {} }

const rights = natsRights(['alpha', 'beta', 'gamma', 'few', 'many'].map((service) => ({
  service,
  consumes: ['alpha', 'gamma'].includes(service) ? [] : [Happened, OtherHappened],
  provides: [],
  calls: []
})))

/**
 * A database and a broker for one test, with the rights that services have in production, and functions that start
 * services on them.
 */
export async function testBus (t: Test) {
  const [nats, { db, url }] = await Promise.all([
    startNats(t, { rights }),
    testDatabase<Tables>(t, import.meta.dirname)
  ])
  await sql`create table effects (event_id uuid not null, subject text not null, number integer not null, at serial)`
    .execute(db)
  const lines: { level: string, message: string, details: Record<string, unknown> }[] = []
  const collect = (level: string) => (details: object, message: string) => {
    lines.push({ level, message, details: { ...details } })
  }
  const log = { info: collect('info'), warn: collect('warn'), error: collect('error') }

  /** A replica of a service, with its own connections. */
  const replica = (service: string) => {
    const own = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
    const bus = connectBus(nats.urlOf(service), { service, log })
    const closers: (() => Promise<void>)[] = []
    let closing: Promise<void> | undefined
    const close = () =>
      closing ??= (async () => {
        for (const each of closers.reverse()) await each()
        await bus.close()
        await own.destroy()
      })()
    t.teardown(close)
    return {
      bus,
      db: own,
      close,
      relay () {
        const relay = startRelay(bus, own)
        closers.push(relay.stop)
        return relay
      },
      consume (handle: (received: HappenedEvent) => Promise<unknown> = (received) => recordEffect(own, received)) {
        const consumers = startConsumers(bus, own, [on(Happened, handle)])
        closers.push(consumers.stop)
        return consumers
      }
    }
  }

  let streamManager: StreamManager | undefined
  /** Starts the stream manager for alpha; the first publisher does. */
  const manageStream = () =>
    streamManager ??= (() => {
      const bus = connectBus(nats.urlOf(STREAM_MANAGER_USER), { service: STREAM_MANAGER_USER, log })
      const manager = startStreamManager(bus, ['alpha'])
      t.teardown(async () => {
        await manager.stop()
        await bus.close()
      })
      return manager
    })()

  return {
    nats,
    db,
    url,
    lines,
    replica,
    publisher () {
      manageStream()
      return replica('alpha')
    },
    consumer: () => replica('beta')
  }
}

/** An effect that is not idempotent by itself: handling an event twice would insert two rows. */
export async function recordEffect (db: Db, { id, subject, data }: HappenedEvent) {
  await db.transaction().execute(async (trx) => {
    if (!await claimOnce(trx, id, 'effects')) return
    await trx.insertInto('effects').values({ event_id: id, subject, number: data.number }).execute()
  })
}

export async function publishOne (db: Db, number: number, subject = `thing ${number}`) {
  await db.transaction().execute(async (trx) => await publish(trx, Happened, subject, { number }))
}

export async function publishMany (db: Db, count: number, from = 0) {
  await db.transaction().execute(async (trx) => {
    for (let number = from; number < from + count; number++) await publish(trx, Happened, `thing ${number}`, { number })
  })
}

/** The numbers with an effect, in ascending order. */
export async function effects (db: Db) {
  const rows = await db.selectFrom('effects').select('number').orderBy('number').execute()
  return rows.map((row) => row.number)
}

export const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

export const haveEffects = (db: Db, count: number) => async () => (await effects(db)).length >= count

/** Waits until the relay has published every event but `rejected` of them, which it never can. */
export async function untilPublished (db: Db, { rejected = 0 } = {}) {
  await until(async () => {
    const waiting = await db.selectFrom('outbox').select('rejected_reason').where('published_at', 'is', null).execute()
    return waiting.length === rejected && waiting.every((row) => row.rejected_reason !== null)
  })
}

/** A client with every right, which publishes past the outbox. */
export async function operator (t: Test, url: string) {
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
export async function durable (t: Test, url: string) {
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

export async function readConsumer (t: Test, url: string, service: string) {
  const manager = await (await operator(t, url)).nats.jetstreamManager()
  return await manager.consumers.info('EVENTS_ALPHA', service)
}
