import { Counter, Gauge, Histogram } from 'prom-client'
import { sql } from 'kysely'
import * as contracts from '@tandem/contracts'
import type { EventDefinition } from '@tandem/contracts'
import { createQueryGauge, type QueryGaugeSource } from '@tandem/database-kit'
import type { FailedMessageTables } from './failed-messages.ts'
import type { OutboxTables } from './outbox.ts'

export const published = new Counter({
  name: 'bus_events_published_total',
  help: 'Events that the broker accepted (published) or never will (rejected)',
  labelNames: ['type', 'outcome'] as const
})
export const handled = new Counter({
  name: 'bus_events_handled_total',
  help: 'Attempts to handle an event: done, failed or malformed',
  labelNames: ['type', 'outcome'] as const
})
export const handling = new Histogram({
  name: 'bus_event_handling_seconds',
  help: 'Duration of one attempt',
  labelNames: ['type'] as const,
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})

const MAX_COUNTED = 100_001

/** A durable consumer of this process. */
interface ConsumerSource {
  service: string
  from: string
  /** Its state on the broker. @throws while the broker or the consumer is missing */
  read: () => Promise<{ waiting: number, acknowledgedSeq: number }>
}

export const consumers = new Set<ConsumerSource>()
export const outboxes = new Set<QueryGaugeSource<OutboxTables>>()
export const failedMessageSources = new Set<QueryGaugeSource<FailedMessageTables>>()

createConsumerGauge(
  'bus_consumer_lag',
  'Events of a service that are not yet acknowledged',
  ({ waiting }) => waiting
)
createConsumerGauge(
  'bus_consumer_acknowledged_seq',
  'The number in the stream up to which every event is acknowledged; without progress while events wait, the consumer is stuck',
  ({ acknowledgedSeq }) => acknowledgedSeq
)

createQueryGauge({
  name: 'bus_outbox_waiting',
  help: 'Events that wait for the broker; 100,001 means more',
  sources: outboxes,
  // Every replica counts at every scrape, and while the broker is away millions may wait.
  query: async (db) =>
    await db.selectFrom(
      db.selectFrom('outbox').select('seq')
        .where('published_at', 'is', null).where('rejected_reason', 'is', null)
        .orderBy('seq').limit(MAX_COUNTED)
        .as('waiting')
    ).select(sql<number>`count(*)`.as('value')).executeTakeFirst()
})

createQueryGauge({
  name: 'bus_outbox_oldest_seconds',
  help: 'Age of the oldest event that waits for the broker',
  sources: outboxes,
  query: async (db) =>
    await db.selectFrom('outbox')
      .select(sql<number>`extract(epoch from clock_timestamp() - occurred_at)::float8`.as('value'))
      .where('published_at', 'is', null).where('rejected_reason', 'is', null)
      .orderBy('seq').limit(1)
      .executeTakeFirst()
})

createQueryGauge({
  name: 'bus_dead_letters',
  help: 'Failed messages that are retried only when an operator replays them',
  sources: failedMessageSources,
  query: async (db) =>
    await db.selectFrom('failed_messages')
      .select(sql<number>`count(*)`.as('value'))
      .where('parked_at', 'is not', null)
      .executeTakeFirst()
})

/** Starts the counters of a service's own events at 0: a rate in Prometheus misses the first count of a new series. */
export function initializePublished (service: string) {
  for (
    const { type } of Object.values<unknown>(contracts).filter(isEvent).filter((event) => event.service === service)
  ) {
    for (const outcome of ['published', 'rejected']) published.inc({ type, outcome }, 0)
  }
}

/** Starts the counters of the events that a service consumes at 0. */
export function initializeHandled (types: Iterable<string>) {
  for (const type of types) {
    for (const outcome of ['done', 'failed', 'malformed']) handled.inc({ type, outcome }, 0)
  }
}

const isEvent = (value: unknown): value is EventDefinition =>
  typeof value === 'object' && value !== null && 'data' in value && 'service' in value

/** A gauge that asks the broker when it is read, and has no value while the broker is down. */
function createConsumerGauge (
  name: string,
  help: string,
  valueOf: (state: Awaited<ReturnType<ConsumerSource['read']>>) => number
) {
  return new Gauge({
    name,
    help,
    labelNames: ['service', 'from'] as const,
    async collect () {
      this.reset()
      await Promise.all([...consumers].map(async ({ service, from, read }) => {
        const state = await read().catch(() => undefined)
        if (state) this.set({ service, from }, valueOf(state))
      }))
    }
  })
}
