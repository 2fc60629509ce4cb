import { EventEmitter } from 'node:events'
import { sql, type Generated, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import type Type from 'typebox'
import type { EventDefinition } from '@tandem/contracts'
import { cacheQuery } from '@tandem/database-kit'
import { currentCorrelation } from '@tandem/process-kit'
import { MAX_EVENT_BYTES } from './envelope.ts'
import { describeErrors, describeFieldErrors, validatorOf } from './validators.ts'

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
 * @throws when the data do not match the event's schema, because the event would become a dead letter of every consumer, and when
 * they
 *   exceed one NATS message, because the event would stay in the outbox forever: split such an event
 */
export async function publish<Schema extends Type.TSchema> (
  trx: Transaction<OutboxTables>,
  event: EventDefinition<Schema>,
  subject: string,
  data: Type.Static<Schema>
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

/** Inserts an event as one part of a statement: `published as (${insertEvent(…)})`. */
type InsertEvent = typeof insertEvent

/**
 * An optimisation of `publish` for a hot change that is a single statement, and so needs no transaction around it:
 * ``publishSql(db, (insertEvent) => sql`with changed as (…), published as (${insertEvent(PostLiked, postId, data,
 * sql`changed`)}) …`)``. The event is published if, and only if, the statement commits.
 */
export async function publishSql<Row> (
  db: Kysely<OutboxTables> | Transaction<OutboxTables>,
  statement: (insertEvent: InsertEvent) => RawBuilder<Row>
) {
  const result = await statement(insertEvent).execute(db)
  outboxWritten.emit('event')
  return result
}

/**
 * Like `publishSql`, for a statement of a hot path: it is built and compiled once. What differs between calls is in the
 * values, and the correlation of each event in columns of `from`.
 * @param build gets placeholders, and must use them for nothing but parameters of the statement
 */
export function cachePublishSql<Values extends Record<string, readonly unknown[]>, Row> (
  build: (insertEvent: InsertEvent, values: Values) => RawBuilder<Row>
) {
  const run = cacheQuery((db: Kysely<OutboxTables>, values: Values) => build(insertEvent, values).compile(db))
  return async (db: Kysely<OutboxTables>, values: Values) => {
    const rows = await run(db, values, '')
    outboxWritten.emit('event')
    return rows
  }
}

/**
 * Publishes an event once for each row of `from`. Values are checked against the event's schema here; only the type
 * checker sees parts that are SQL. Nothing checks the size: the statement has to split what may be long.
 * @param from the parts of the statement that make the change and provide the data
 * @param correlation that of the running code by default; columns of `from` if the statement does the work of several
 *   requests
 * @throws when a value does not match the event's schema
 */
function insertEvent<Schema extends Type.TSchema> (
  event: EventDefinition<Schema>,
  subject: string | RawBuilder<string>,
  data: SqlData<Type.Static<Schema>>,
  from: RawBuilder<unknown>,
  correlation: SqlCorrelation = currentCorrelation()
) {
  const values = Object.fromEntries(Object.entries(data).filter(([, value]) => !isSql(value)))
  const errors = describeFieldErrors(event.data, values, Object.keys(data))
  if (errors) throw new TypeError(`invalid data for ${event.type}: ${errors}`)
  const fields = Object.entries(data).map(([name, value]) =>
    sql`${sql.lit(name)}, ${isSql(value) ? value : sql`${JSON.stringify(value)}::jsonb`}`
  )
  const { traceparent = null, requestId = null } = correlation
  return sql<{ id: string }>`
    insert into outbox (type, subject, data, traceparent, request_id)
    select ${sql.lit(event.type)}, ${subject}, jsonb_build_object(${sql.join(fields)}), ${traceparent}, ${requestId}
    from ${from} returning id`
}

interface SqlCorrelation {
  traceparent?: string | RawBuilder<string | null> | undefined
  requestId?: string | RawBuilder<string | null> | undefined
}

/** An event's data. Parts of it can be SQL, known only inside the statement. */
type SqlData<Data> = { [Name in keyof Data]: Data[Name] | RawBuilder<Data[Name]> }

const isSql = (value: unknown): value is RawBuilder<unknown> =>
  typeof value === 'object' && value !== null && 'isRawBuilder' in value
