import { EventEmitter } from 'node:events'
import type { Generated, Transaction } from 'kysely'
import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import { currentCorrelation } from '@tandem/process-kit'
import { MAX_EVENT_BYTES } from './envelope.ts'
import { describeErrors, validatorOf } from './validators.ts'

export interface OutboxTables {
  outbox: {
    id: Generated<string>,
    seq: Generated<number>,
    type: string,
    subject: string,
    data: unknown,
    traceparent: string | null,
    request_id: string | null,
    occurred_at: Generated<Date>,
    published_at: Date | null,
    rejected_reason: string | null,
    stream_created_at: Date | null,
    stream_seq: number | null
  }
}

/** Tells the relays of this process that an event may be committed soon. */
export const outboxWritten = new EventEmitter().setMaxListeners(0)

/**
 * Publishes an event if, and only if, the transaction commits.
 * @param subject what the event is about. Events of one subject are published in the order in which they were written,
 *   as long as the transactions that write them wait for each other, for example because they lock the subject's row
 * @throws when the data do not match the event's schema, because the event would become a dead letter of every
 *   consumer, and when they exceed one NATS message, because the event would stay in the outbox forever: split such an
 *   event
 */
export async function publish<Schema extends Type.TSchema> (
  trx: Transaction<OutboxTables>,
  event: EventDefinition<Schema>,
  subject: string,
  data: NoInfer<Type.Static<Schema>>
) {
  if (!validatorOf(event.data).Check(data)) {
    throw new TypeError(`invalid data for ${event.type}: ${describeErrors(event.data, data)}`)
  }
  const text = JSON.stringify(data)
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(subject)
  if (bytes > MAX_EVENT_BYTES) {
    throw new RangeError(`${event.type} is too large to publish: ${bytes} bytes, the maximum is ${MAX_EVENT_BYTES}`)
  }
  const { traceparent = null, requestId = null } = currentCorrelation()
  await trx.insertInto('outbox')
    .values({ type: event.type, subject, data: text, traceparent, request_id: requestId })
    .execute()
  outboxWritten.emit('event')
}
