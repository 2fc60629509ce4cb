import { setTimeout as sleep } from 'node:timers/promises'
import type { JetStreamClient, NatsConnection, PubAck } from 'nats'
import { sql, type Kysely, type Transaction } from 'kysely'
import { deleteChunk, DELETED_AT_ONCE, lookupArray } from '@tandem/database-kit'
import { throttleLog } from '@tandem/process-kit'
import { toEnvelope } from './envelope.ts'
import type { Bus } from './connection.ts'
import { toHeaders } from './message-headers.ts'
import { initializePublished, outboxes, published } from './metrics.ts'
import { outboxWritten, type OutboxTables } from './outbox.ts'
import { createOutboxPolling } from './outbox-polling.ts'
import type { ProcessedEventTables } from './processed-events.ts'
import { lastSequenceBefore, publishInOrder } from './publish-in-order.ts'
import { apiError, readStream, type StreamState } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

const BATCH_SIZE = 200
const ACK_TIMEOUT_MS = 1_000
// Postgres ends a transaction that stays idle for 5 s, and this one holds the lock that all replicas share.
const PUBLISH_TIME_MS = 2_000
const RETRY_PAUSE_MS = 500
// A write that ends a pause has not committed yet.
const COMMIT_TIME_MS = 2
// Before it publishes, the relay checks the stream if it has not done so for this long.
const STREAM_CHECK_INTERVAL_MS = 5_000
// An idle relay checks it as well: a stream can be lost without a reconnect.
const IDLE_STREAM_CHECK_INTERVAL_MS = 60_000
const DRAIN_TIME_MS = 3_000
const FIRST_CLEANUP_MS = 60_000
const CLEANUP_INTERVAL_MS = 60 * 60 * 1_000
const CHUNK_SIZE = 1_000

type Tables = OutboxTables & ProcessedEventTables
type Db = Kysely<Tables>
type Row = Pick<OutboxTables['outbox'], 'type' | 'subject' | 'data' | 'traceparent' | 'request_id'> & {
  id: string,
  seq: number,
  occurred_at: Date
}

/**
 * Publishes the outbox in order until stopped. Every replica of a service runs a relay. They take turns under an
 * advisory lock, and when one dies the others continue. It needs nothing from the broker except acknowledgements. While
 * NATS is down, rows wait. When NATS comes back without messages that it had acknowledged, the relay publishes the lost
 * rows of the last 72 hours again.
 */
export function startRelay (bus: Bus, db: Db) {
  const stopping = new AbortController()
  const warn = throttleLog((error) => bus.log.warn({ err: error }, 'the relay cannot publish and keeps trying'))
  const source = { service: bus.service, db }
  const polling = createOutboxPolling()
  let wake = () => {}
  let hasWritten = false
  let stream: StreamState | undefined
  let streamCheckedAt = 0
  let nextCleanupAt = Date.now() + FIRST_CLEANUP_MS

  const onOutboxWritten = () => {
    polling.expect(Date.now())
    hasWritten = true
    wake()
  }
  outboxWritten.on('event', onOutboxWritten)
  const stopListening = bus.onConnect(() => {
    stream = undefined
    wake()
  })
  outboxes.add(source)
  initializePublished(bus.service)

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const next = await publishBatch().then(
        // Without a stream it has connected meanwhile.
        (count) => count === BATCH_SIZE || (!stream && bus.current()) ? undefined : polling.nextPause(Date.now()),
        handleFailure
      )
      if (next) await pause(next)
    }
    // Events from before the stop do not wait for the next start, unless the broker has just failed.
    for (const end = Date.now() + DRAIN_TIME_MS; stream && Date.now() < end;) {
      if (await publishBatch().catch(handleFailure) !== BATCH_SIZE) break
    }
  })()

  async function publishBatch () {
    await cleanUpWhenDue()
    const connection = bus.current()
    if (!connection) return 0
    let hasWaiting = hasWritten || await isWaiting(db)
    hasWritten = false
    const checkIntervalMs = hasWaiting ? STREAM_CHECK_INTERVAL_MS : IDLE_STREAM_CHECK_INTERVAL_MS
    if (!stream || Date.now() - streamCheckedAt > checkIntervalMs) {
      const found = await readStream(connection, bus.service)
      await requeueLost(db, found)
      stream = found
      streamCheckedAt = Date.now()
      hasWaiting = await isWaiting(db)
    }
    if (!hasWaiting) return 0
    const { count, lastSeq, failure } = await publishWaiting(db, connection, stream, bus)
    stream = { ...stream, lastSeq }
    polling.published(count, Date.now())
    if (failure) throw failure
    return count
  }

  function handleFailure (error: unknown) {
    stream = undefined
    warn(error)
    return { pauseMs: RETRY_PAUSE_MS, isIdle: false }
  }

  async function pause ({ pauseMs, isIdle }: { pauseMs: number, isIdle: boolean }) {
    const woken = new AbortController()
    wake = () => {
      if (isIdle || stopping.signal.aborted) woken.abort()
    }
    await sleep(pauseMs, undefined, { signal: woken.signal }).catch(async () => await sleep(COMMIT_TIME_MS))
    wake = () => {}
  }

  async function cleanUpWhenDue () {
    if (Date.now() < nextCleanupAt) return
    try {
      // One chunk per batch, so that a cleanup after a long time delays no event.
      nextCleanupAt = await deleteExpired(db) === DELETED_AT_ONCE ? 0 : Date.now() + CLEANUP_INTERVAL_MS
    } catch (error) {
      nextCleanupAt = Date.now() + FIRST_CLEANUP_MS
      bus.log.warn({ err: error }, 'the outbox cleanup failed and will be repeated')
    }
  }

  return {
    async stop () {
      stopping.abort()
      wake()
      await running
      outboxWritten.off('event', onOutboxWritten)
      stopListening()
      outboxes.delete(source)
    }
  }
}

async function isWaiting (db: Db) {
  const waiting = await db.selectFrom('outbox').select('id')
    .where('published_at', 'is', null).where('rejected_reason', 'is', null)
    // The order makes Postgres use the index. Waiting rows are at the end of the table, which it would else read first.
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return waiting !== undefined
}

/**
 * Publishes one batch. Returns how many rows were published or rejected, where the stream ends now and, if other rows
 * failed, why.
 */
async function publishWaiting (db: Db, connection: NatsConnection, stream: StreamState, bus: Bus) {
  return await db.transaction().execute(async (trx) => {
    const rows: Row[] = await trx.selectFrom('outbox')
      .select(['id', 'seq', 'type', 'subject', 'data', 'traceparent', 'request_id', 'occurred_at'])
      .where('published_at', 'is', null).where('rejected_reason', 'is', null).where(isOutboxLocked)
      .orderBy('seq')
      .limit(BATCH_SIZE)
      .execute()

    const client = connection.jetstream({ timeout: ACK_TIMEOUT_MS })
    const until = Date.now() + PUBLISH_TIME_MS
    const { acked, rejected, failure } = await publishInOrder(rows, {
      publish: async (row) => await send(client, bus.service, row),
      isPermanent,
      isTimeOver: () => Date.now() > until
    })

    for (const { row, error } of rejected) await markRejected(trx, bus, row, error)
    await markPublished(trx, stream, acked)
    const lastSeq = Math.max(stream.lastSeq, ...acked.map(({ seq }) => seq))
    return { count: acked.length + rejected.length, lastSeq, failure }
  })
}

class ForeignEvent extends Error {}

async function send (client: JetStreamClient, service: string, row: Row) {
  if (!row.type.startsWith(`${service}.`)) {
    throw new ForeignEvent(`${service} cannot publish ${row.type}, an event of another service`)
  }
  // The outbox id is the message id, so the broker itself drops a duplicate within ten minutes.
  return await client.publish(subjectOf(row.type), toEnvelope(service, row), {
    msgID: row.id,
    headers: toHeaders({ traceparent: row.traceparent ?? undefined, requestId: row.request_id ?? undefined }),
    expect: { streamName: streamOf(service) }
  })
}

const MESSAGE_EXCEEDS_MAXIMUM = 10054

/** Whether the broker will never accept this message. Others may still succeed. */
function isPermanent (error: unknown) {
  return error instanceof ForeignEvent || apiError(error)?.err_code === MESSAGE_EXCEEDS_MAXIMUM ||
    (error as { code?: string }).code === 'MAX_PAYLOAD_EXCEEDED'
}

async function markRejected (trx: Transaction<Tables>, bus: Bus, { id, type }: Row, error: unknown) {
  await trx.updateTable('outbox').set({ rejected_reason: String(error) }).where('id', '=', id).execute()
  published.inc({ type, outcome: 'rejected' })
  bus.log.error(
    { err: error, id, type },
    'an event cannot be published and stays in the outbox for 30 days; set its rejected_reason to null to try again'
  )
}

async function markPublished (trx: Transaction<Tables>, stream: StreamState, acked: (PubAck & { row: Row })[]) {
  if (acked.length === 0) return
  const lastSeq = lastSequenceBefore(acked)
  // Nothing is lost if the stream goes on where this relay saw it end.
  if (lastSeq !== undefined && lastSeq !== stream.lastSeq) {
    await requeueLost(trx, { createdAt: stream.createdAt, lastSeq })
  }
  const seqs = acked.map(({ row }) => row.seq)
  // The rows of a batch are the waiting ones in a range of `seq`: conditions for which Postgres uses the index of waiting
  // rows. With their ids alone it would read the whole table for each batch, until the table is analyzed.
  await sql`
    update outbox set published_at = clock_timestamp(), stream_created_at = ${stream.createdAt}::timestamptz,
      stream_seq = acked.seq
    from unnest(
      ${lookupArray(acked.map(({ row }) => row.id), 'uuid')},
      ${lookupArray(acked.map(({ seq }) => seq), 'bigint')}
    ) as acked (id, seq)
    where outbox.id = acked.id and outbox.seq between ${Math.min(...seqs)}::bigint and ${Math.max(...seqs)}::bigint
      and published_at is null and rejected_reason is null`.execute(trx)
  for (const { row } of acked) published.inc({ type: row.type, outcome: 'published' })
}

/**
 * Locks the outbox for the transaction, unless another relay has locked it. Two relays at once would only break the order
 * of events. If the other one commits while this statement begins, its rows are read and published again, and the
 * broker drops them.
 */
const isOutboxLocked = sql<boolean>`
  (select pg_try_advisory_xact_lock(hashtextextended(current_schema() || '.outbox', 0)))`

/**
 * Rows stored in an earlier stream, or beyond the end of this one, are lost. They wait to be published again, the
 * oldest first.
 */
async function requeueLost (db: Db, { createdAt, lastSeq }: StreamState) {
  if (!await hasLost(db, { createdAt, lastSeq })) return
  for (let lost = CHUNK_SIZE; lost === CHUNK_SIZE;) {
    const { numAffectedRows } = await sql`
      update outbox set published_at = null, stream_created_at = null, stream_seq = null
      where id in (
        select id from outbox
        where stream_seq is not null and (
          stream_created_at < ${createdAt}::timestamptz or stream_created_at > ${createdAt}::timestamptz
          or stream_created_at = ${createdAt}::timestamptz and stream_seq > ${lastSeq}::bigint
        )
        order by stream_created_at, stream_seq
        limit ${sql.lit(CHUNK_SIZE)}
      )`.execute(db)
    lost = Number(numAffectedRows ?? 0)
  }
}

/**
 * Whether any row is lost. This runs with every batch, so it looks only at the two ends of the index. The condition of
 * `requeueLost` makes Postgres read the whole index, or the whole table, until the table is analyzed.
 */
async function hasLost (db: Db, { createdAt, lastSeq }: StreamState) {
  const first = sql`order by stream_created_at, stream_seq limit 1`
  const { rows } = await sql`
    (select id from outbox where stream_seq is not null and stream_created_at < ${createdAt}::timestamptz ${first})
    union all
    (select id from outbox
      where stream_seq is not null
        and (stream_created_at, stream_seq) > (${createdAt}::timestamptz, ${lastSeq}::bigint) ${first})`.execute(db)
  return rows.length > 0
}

/** Deletes a chunk of expired rows of each table. @returns how many there were in the larger one */
export async function deleteExpired (db: Db) {
  // Both ids are UUIDv7, which sort by time, so the primary keys serve as indexes on time.
  const oldEvents = sql`id < (select uuidv7(interval '-72 hours')) and (
      published_at is not null or (rejected_reason is not null and id < (select uuidv7(interval '-30 days')))
    ) order by id`
  const events = await deleteChunk(db, 'outbox', oldEvents)
  const oldClaims = sql`event_id < (select uuidv7(interval '-14 days')) order by event_id`
  return Math.max(events, await deleteChunk(db, 'processed_events', oldClaims))
}
