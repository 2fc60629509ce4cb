import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import {
  connectBus,
  on,
  publish,
  startConsumers,
  startRelay,
  type FailedMessageTables,
  type ProcessedEventTables,
  type OutboxTables
} from '@tandem/bus-kit'
import { AccountVerified, defineEvent } from '@tandem/contracts'
import { connect, migrate } from '@tandem/database-kit'
import { connectStreamManager } from '@tandem/nats/streams.ts'
import type { Stack } from './stack.ts'
import { percentile, type Row } from './table.ts'

type Tables = OutboxTables & ProcessedEventTables & FailedMessageTables

const quiet = { info () {}, warn () {}, error () {} }
const WRITERS = 8
const PACED_EVENTS = 1_000
const FLOOD_EVENTS = 10_000

/**
 * Measures events from commit to handler, over the Postgres and NATS of the running system: the latency at a steady
 * 100 events a second, the throughput with 8 writers, and for comparison the same commits without a relay.
 */
export async function measureEvents (stack: Stack): Promise<Row[]> {
  const schema = `bench_${randomBytes(4).toString('hex')}`
  const url = new URL(stack.postgres.url)
  const admin = connect<Tables>(url.href, { log: quiet })
  await sql`create schema ${sql.id(schema)}`.execute(admin)
  url.searchParams.set('options', `-c search_path=${schema}`)
  await migrate(url.href.replaceAll('+', '%20'), import.meta.dirname)
  const db = connect<Tables>(url.href.replaceAll('+', '%20'), { log: quiet, maxConnections: WRITERS + 4 })

  const service = schema.replace('_', '')
  const event = defineEvent(`${service}.thing.happened.v1`, AccountVerified.data)
  const publishOne = async () => {
    const accountId = crypto.randomUUID()
    await db.transaction().execute(async (trx) => await publish(trx, event, accountId, { accountId }))
    committed.set(accountId, performance.now())
  }
  const committed = new Map<string, number>()
  const latencies: number[] = []
  let received = 0

  const commits = await timed(FLOOD_EVENTS, async () => await inParallel(FLOOD_EVENTS, publishOne))
  await sql`truncate outbox`.execute(db)
  committed.clear()

  const bus = connectBus(stack.nats.url, { service, log: quiet })
  const stopStreams = connectStreamManager(stack.nats.url, [service], quiet)
  const relay = startRelay(bus, db)
  const consumers = startConsumers(bus, db, [on(event, async ({ data }) => {
    received++
    const since = committed.get(data.accountId)
    // The event can arrive before the writer learns of its own commit.
    latencies.push(since === undefined ? 0 : performance.now() - since)
  })])
  const allReceived = async (count: number) => {
    while (received < count) await sleep(2)
  }

  await inParallel(50, publishOne)
  await allReceived(50)
  latencies.length = 0
  received = 0
  for (let turn = 0; turn < PACED_EVENTS; turn++) {
    void publishOne()
    await sleep(10)
  }
  await allReceived(PACED_EVENTS)
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)]

  received = 0
  const throughput = await timed(FLOOD_EVENTS, async () => {
    await inParallel(FLOOD_EVENTS, publishOne)
    await allReceived(FLOOD_EVENTS)
  })

  await consumers.stop()
  await relay.stop()
  await stopStreams()
  await bus.close()
  await db.destroy()
  await sql`drop schema ${sql.id(schema)} cascade`.execute(admin)
  await admin.destroy()
  return [
    { name: 'events, commit to handler, at 100 a second', 'p50 ms': p50, 'p99 ms': p99 },
    { name: 'outbox commits alone, 8 writers', 'per second': commits },
    { name: 'events committed and handled, 8 writers', 'per second': throughput }
  ]
}

async function timed (count: number, work: () => Promise<void>) {
  const since = performance.now()
  await work()
  return count / (performance.now() - since) * 1_000
}

async function inParallel (count: number, work: () => Promise<void>) {
  let started = 0
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (started++ < count) await work()
  }))
}
