import { EventEmitter } from 'node:events'
import { context, propagation } from '@opentelemetry/api'
import type { Generated, Transaction } from 'kysely'
import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'

export interface OutboxTables {
  outbox: {
    id: Generated<string>
    seq: Generated<number>
    type: string
    aggregate: string
    data: unknown
    traceparent: string | null
    occurred_at: Generated<Date>
    published_at: Date | null
    stream_seq: number | null
  }
}

/** Tells the relays of this process that something may be committed soon. */
export const recorded = new EventEmitter()

/**
 * Says an event: it is published if, and only if, the transaction commits.
 * @param aggregate what the event is about; events about one thing are published in the order they were recorded
 */
export async function record<Schema extends Type.TSchema> (
  trx: Transaction<OutboxTables>, event: EventDefinition<Schema>, aggregate: string, data: Type.Static<Schema>
) {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  await trx.insertInto('outbox').values({
    type: event.type, aggregate, data: JSON.stringify(data), traceparent: carrier.traceparent ?? null
  }).execute()
  recorded.emit('event')
}
