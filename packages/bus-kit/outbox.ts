import { EventEmitter } from 'node:events'
import type { Generated, Transaction } from 'kysely'
import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import { faultsOf, shapeOf } from './shapes.ts'
import { currentTrace } from './tracing.ts'

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
    refused: string | null
    stream_made_at: Date | null
    stream_seq: number | null
  }
}

/** Tells the relays of this process that something may be committed soon. */
export const recorded = new EventEmitter().setMaxListeners(0)

/**
 * Says an event: it is published if, and only if, the transaction commits.
 * @param aggregate what the event is about. Events about one thing are published in the order they were recorded,
 *   if the transactions that record them wait for each other, as by locking its row
 * @throws when the data are not of the event's shape, which its hearers could only park
 */
export async function record<Schema extends Type.TSchema> (
  trx: Transaction<OutboxTables>, event: EventDefinition<Schema>, aggregate: string, data: Type.Static<Schema>
) {
  if (!shapeOf(event.data).Check(data)) throw new TypeError(`this is no ${event.type}: ${faultsOf(event.data, data)}`)
  await trx.insertInto('outbox').values({
    type: event.type, aggregate, data: JSON.stringify(data), traceparent: currentTrace() ?? null
  }).execute()
  recorded.emit('event')
}
