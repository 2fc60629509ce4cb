import { EventEmitter } from 'node:events'
import { sql, type Generated, type RawBuilder, type Transaction } from 'kysely'
import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import { MAX_EVENT_BYTES } from './envelope.ts'
import { describeErrors, validatorOf } from './validators.ts'
import { currentTrace } from './tracing.ts'

export interface OutboxTables {
  outbox: {
    id: Generated<string>
    seq: Generated<number>
    type: string
    subject: string
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
export const outboxWritten = new EventEmitter().setMaxListeners(0)

/**
 * Says an event: it is published if, and only if, the transaction commits.
 * @param subject what the event is about. Events about one thing are published in the order they were recorded,
 *   if the transactions that record them wait for each other, as by locking its row
 * @throws when the data are not of the event's shape, which its hearers could only park, and when they are more than NATS takes as one
 *   message, which would stay in the outbox for good: whoever has so much to say splits it
 */
export async function publish<Schema extends Type.TSchema> (
  trx: Transaction<OutboxTables>, event: EventDefinition<Schema>, subject: string, data: Type.Static<Schema>
) {
  if (!validatorOf(event.data).Check(data)) throw new TypeError(`this is no ${event.type}: ${describeErrors(event.data, data)}`)
  const text = JSON.stringify(data)
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(subject)
  if (bytes > MAX_EVENT_BYTES) throw new RangeError(`${event.type} is too big to be published: ${bytes} bytes, and at most ${MAX_EVENT_BYTES} fit`)
  await trx.insertInto('outbox').values({
    type: event.type, subject, data: text, traceparent: currentTrace() ?? null
  }).execute()
  outboxWritten.emit('event')
}

/** An event's data, of which parts may be known only where the statement runs. */
type Told<Data> = { [Name in keyof Data]: Data[Name] | RawBuilder<Data[Name]> }

/**
 * The same for a change that is one statement, and so needs no transaction around it: `with changed as (…), told as (${recording(…)}) …`.
 * The event is said once for each row of `from`, if and only if the statement commits. That its data are of the right shape is for
 * the compiler to see, and that they fit into a message for the statement: it splits what may be long.
 * @param from the parts of the statement that make the change and know the data
 */
export function publishSql<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>, subject: string | RawBuilder<string>, data: Told<Type.Static<Schema>>, from: RawBuilder<unknown>
) {
  const fields = Object.entries(data).map(([name, value]) => sql`${sql.lit(name)}, ${isPartOfStatement(value) ? value : sql`${JSON.stringify(value)}::jsonb`}`)
  outboxWritten.emit('event')
  return sql<{ id: string }>`
    insert into outbox (type, subject, data, traceparent)
    select ${sql.lit(event.type)}, ${subject}, jsonb_build_object(${sql.join(fields)}), ${currentTrace() ?? null} from ${from} returning id`
}

const isPartOfStatement = (value: unknown): value is RawBuilder<unknown> => typeof value === 'object' && value !== null && 'isRawBuilder' in value
