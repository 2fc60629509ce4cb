import { Counter, Gauge, Histogram } from 'prom-client'
import { sql, type Kysely } from 'kysely'
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
export const lag = new Gauge({
  name: 'bus_consumer_lag',
  help: 'Events of a service not yet fetched, as of the last fetch',
  labelNames: ['service', 'from'] as const
})

interface Source<Tables> {
  service: string
  db: Kysely<Tables>
}

export const outboxes = new Set<Source<OutboxTables>>()
export const failedMessageSources = new Set<Source<FailedMessageTables>>()

queryGauge(
  'bus_outbox_waiting',
  'Events that wait for the broker',
  outboxes,
  async (db) =>
    await db.selectFrom('outbox')
      .select(sql<number>`count(*)`.as('value'))
      .where('published_at', 'is', null).where('rejected_reason', 'is', null)
      .executeTakeFirst()
)

queryGauge(
  'bus_outbox_oldest_seconds',
  'Age of the oldest event that waits for the broker',
  outboxes,
  async (db) =>
    await db.selectFrom('outbox')
      .select(sql<number>`extract(epoch from clock_timestamp() - occurred_at)::float8`.as('value'))
      .where('published_at', 'is', null).where('rejected_reason', 'is', null)
      .orderBy('seq').limit(1)
      .executeTakeFirst()
)

queryGauge(
  'bus_dead_letters',
  'Failed messages that are retried only when an operator replays them',
  failedMessageSources,
  async (db) =>
    await db.selectFrom('failed_messages')
      .select(sql<number>`count(*)`.as('value'))
      .where('parked_at', 'is not', null)
      .executeTakeFirst()
)

/** A gauge that queries Postgres when it is read, and has no value while Postgres is down. */
function queryGauge<Tables> (
  name: string,
  help: string,
  sources: Set<Source<Tables>>,
  query: (db: Kysely<Tables>) => Promise<{ value: number } | undefined>
) {
  return new Gauge({
    name,
    help,
    labelNames: ['service'] as const,
    async collect () {
      this.reset()
      await Promise.all([...sources].map(async ({ service, db }) => {
        const row = await query(db).catch(() => ({ value: NaN }))
        if (!Number.isNaN(row?.value)) this.set({ service }, row?.value ?? 0)
      }))
    }
  })
}
