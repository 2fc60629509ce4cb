import { Counter, Gauge, Histogram } from 'prom-client'
import { sql, type Kysely } from 'kysely'
import type { FailedMessageTables } from './failed-messages.ts'
import type { OutboxTables } from './outbox.ts'

export const published = new Counter({
  name: 'bus_events_published_total', help: 'Events the broker took (published) or never will (refused)', labelNames: ['type', 'outcome'] as const
})
export const handled = new Counter({
  name: 'bus_events_handled_total', help: 'Tries to handle an event: done, failed or malformed', labelNames: ['type', 'outcome'] as const
})
export const handling = new Histogram({
  name: 'bus_event_handling_seconds', help: 'How long one try took', labelNames: ['type'] as const,
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
})
export const lag = new Gauge({
  name: 'bus_consumer_lag', help: 'Events in the stream of a service that were not yet fetched, when the last one was', labelNames: ['service', 'from'] as const
})

interface Source<Tables> { service: string, db: Kysely<Tables> }

export const outboxes = new Set<Source<OutboxTables>>()
export const failedMessageSources = new Set<Source<FailedMessageTables>>()

ask('bus_outbox_waiting', 'Events that wait for the broker', outboxes, async (db) => await db.selectFrom('outbox')
  .select(sql<number>`count(*)`.as('value'))
  .where('published_at', 'is', null).where('refused', 'is', null)
  .executeTakeFirst())

ask('bus_outbox_oldest_seconds', 'Age of the oldest event that waits for the broker', outboxes, async (db) => await db.selectFrom('outbox')
  .select(sql<number>`extract(epoch from clock_timestamp() - occurred_at)::float8`.as('value'))
  .where('published_at', 'is', null).where('refused', 'is', null)
  .orderBy('seq').limit(1)
  .executeTakeFirst())

ask('bus_failed_messages_parked', 'Messages that wait for a person', failedMessageSources, async (db) => await db.selectFrom('failed_messages')
  .select(sql<number>`count(*)`.as('value'))
  .where('parked_at', 'is not', null)
  .executeTakeFirst())

/** A gauge that asks Postgres when it is read, and shows nothing while Postgres is away. */
function ask<Tables> (
  name: string, help: string, sources: Set<Source<Tables>>, query: (db: Kysely<Tables>) => Promise<{ value: number } | undefined>
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
