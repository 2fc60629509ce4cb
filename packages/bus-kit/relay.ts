import { setTimeout as sleep } from 'node:timers/promises'
import { headers, type JetStreamClient, type NatsConnection, type PubAck } from 'nats'
import { sql, type Kysely, type Transaction } from 'kysely'
import { toEnvelope } from './envelope.ts'
import type { Bus } from './connection.ts'
import { outboxes, published } from './metrics.ts'
import { outboxWritten, type OutboxTables } from './outbox.ts'
import { throttleLog } from './throttle-log.ts'
import { apiError, readStream, type StreamState } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

const BATCH = 200
const ACK_TIMEOUT = 1_000
// A transaction that has begun nothing new for 5 s is ended by Postgres, and this one holds the turn of all replicas.
const PUBLISH_FOR = 2_000
// Only what another process recorded waits so long, such as an operator's command, or a replica that died.
const IDLE_PAUSE = 200
const TROUBLE_PAUSE = 500
// The relay cannot see when a transaction that recorded something commits, so it looks often at first, then less often.
const AWAKE_FOR = 1_000
const SHORTEST_PAUSE = 2
const LONGEST_AWAKE_PAUSE = 16
const CHECK_STREAM_EVERY = 5_000
const DRAIN_FOR = 3_000
const FIRST_CLEARING_AFTER = 60_000
const CLEAR_EVERY = 60 * 60 * 1_000
const CHUNK = 1_000

type Db = Kysely<OutboxTables>
type Row = Pick<OutboxTables['outbox'], 'type' | 'subject' | 'data' | 'traceparent'> & { id: string, seq: number, occurred_at: Date }

export interface Relay { stop (): Promise<void> }

/**
 * Publishes what the outbox holds, in order, until stopped. Every replica of a service runs one; they take turns
 * under an advisory lock, and whichever dies leaves the rest to the others.
 * It needs nothing of the broker but acknowledgements: while NATS is away rows wait, and when NATS comes back
 * without what it had acknowledged, the rows of the last 72 hours that it lost are published again.
 */
export function startRelay (bus: Bus, db: Db): Relay {
  const stopping = new AbortController()
  const warn = throttleLog((error) => bus.log.warn({ err: error }, 'the relay could not publish; it tries on'))
  const source = { service: bus.service, db }
  let awaited = 0
  let othersRecord = false
  let lastRecorded = 0
  let wake = () => {}
  let stream: StreamState | undefined
  let checkedAt = 0
  let clearAt = Date.now() + FIRST_CLEARING_AFTER

  const onRecorded = () => {
    awaited++
    lastRecorded = Date.now()
    wake()
  }
  outboxWritten.on('event', onRecorded)
  const forgetBus = bus.onConnect(() => { stream = undefined })
  outboxes.add(source)

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const pause = await turn().then((count) => count === BATCH ? 0 : nextPause(), trouble)
      if (pause > 0) await pauseFor(pause)
    }
    // What was said before the stop does not wait for the next start, unless the broker has just failed.
    for (const end = Date.now() + DRAIN_FOR; stream && Date.now() < end;) {
      if (await turn().catch(trouble) !== BATCH) break
    }
  })()

  async function turn () {
    await clearSometimes()
    const connection = bus.current()
    if (!connection) return 0
    if (!stream || Date.now() - checkedAt > CHECK_STREAM_EVERY) {
      const found = await readStream(connection, bus.service)
      await redriveLost(db, found)
      stream = found
      checkedAt = Date.now()
    }
    const { taken, failure } = await publishWaiting(db, connection, stream, bus)
    settle(taken)
    if (failure) throw failure
    return taken
  }

  function settle (taken: number) {
    if (taken > awaited) {
      othersRecord = true
      lastRecorded = Date.now()
    }
    awaited = Math.max(0, awaited - taken)
  }

  function trouble (error: unknown) {
    stream = undefined
    warn(error)
    return TROUBLE_PAUSE
  }

  function nextPause () {
    const since = Date.now() - lastRecorded
    if (since > AWAKE_FOR) {
      awaited = 0
      othersRecord = false
    }
    return awaited > 0 || othersRecord ? Math.min(Math.max(since / 4, SHORTEST_PAUSE), LONGEST_AWAKE_PAUSE) : IDLE_PAUSE
  }

  async function pauseFor (pause: number) {
    const over = new AbortController()
    wake = () => { if (pause === IDLE_PAUSE || stopping.signal.aborted) over.abort() }
    await sleep(pause, undefined, { signal: over.signal }).catch(async () => await sleep(SHORTEST_PAUSE))
    wake = () => {}
  }

  async function clearSometimes () {
    if (Date.now() < clearAt) return
    try {
      // By chunks, one a turn, so that clearing up after a long time holds up nobody.
      clearAt = await clearOld(db) < CHUNK ? Date.now() + CLEAR_EVERY : 0
    } catch (error) {
      clearAt = Date.now() + FIRST_CLEARING_AFTER
      bus.log.warn({ err: error }, 'old events could not be cleared')
    }
  }

  return {
    async stop () {
      stopping.abort()
      wake()
      await running
      outboxWritten.off('event', onRecorded)
      forgetBus()
      outboxes.delete(source)
    }
  }
}

/** Publishes one batch; returns how many rows it settled and, if some were not, why. */
async function publishWaiting (db: Db, connection: NatsConnection, stream: StreamState, bus: Bus) {
  const waiting = await db.selectFrom('outbox').select('id')
    .where('published_at', 'is', null).where('refused', 'is', null)
    .limit(1)
    .executeTakeFirst()
  if (!waiting) return { taken: 0 }

  return await db.transaction().execute(async (trx) => {
    if (!await takeTurn(trx)) return { taken: 0 }
    const rows: Row[] = await trx.selectFrom('outbox')
      .select(['id', 'seq', 'type', 'subject', 'data', 'traceparent', 'occurred_at'])
      .where('published_at', 'is', null).where('refused', 'is', null)
      .orderBy('seq')
      .limit(BATCH)
      .execute()

    const client = connection.jetstream({ timeout: ACK_TIMEOUT })
    const acked: (PubAck & { row: Row })[] = []
    const refused: { row: Row, error: unknown }[] = []
    let failure: unknown
    const until = Date.now() + PUBLISH_FOR
    // Side by side, but of one subject each only after the one before it is stored.
    await Promise.all(Map.groupBy(rows, (row) => row.subject).values().map(async (sameAggregate) => {
      for (const row of sameAggregate) {
        if (Date.now() > until) return
        try {
          acked.push({ row, ...await publish(client, bus.service, row) })
        } catch (error) {
          if (!isRefusal(error)) {
            failure = error
            return
          }
          refused.push({ row, error })
        }
      }
    }))

    for (const { row, error } of refused) await refuse(trx, bus, row, error)
    await markPublished(trx, stream, acked)
    return { taken: acked.length + refused.length, failure }
  })
}

class Foreign extends Error {}

async function publish (client: JetStreamClient, service: string, row: Row) {
  if (!row.type.startsWith(`${service}.`)) throw new Foreign(`${row.type} is not for ${service} to say`)
  const carried = headers()
  if (row.traceparent) carried.set('traceparent', row.traceparent)
  // The outbox id names the message, so that a repeat within ten minutes is dropped by the broker itself.
  return await client.publish(subjectOf(row.type), toEnvelope(service, row), {
    msgID: row.id, headers: carried, expect: { streamName: streamOf(service) }
  })
}

const TOO_BIG_FOR_STREAM = 10054

/** Whether this message will never be taken, whereas others may. */
function isRefusal (error: unknown) {
  return error instanceof Foreign || apiError(error)?.err_code === TOO_BIG_FOR_STREAM || (error as { code?: string }).code === 'MAX_PAYLOAD_EXCEEDED'
}

async function refuse (trx: Transaction<OutboxTables>, bus: Bus, { id, type }: Row, error: unknown) {
  await trx.updateTable('outbox').set({ refused: String(error) }).where('id', '=', id).execute()
  published.inc({ type, outcome: 'refused' })
  bus.log.error({ err: error, id, type }, 'an event cannot be published: it stays in the outbox, and is tried again once its column "refused" is null')
}

async function markPublished (trx: Transaction<OutboxTables>, stream: StreamState, acked: (PubAck & { row: Row })[]) {
  if (acked.length === 0) return
  // Whatever once had the place of a new message was lost with an end of the stream.
  const fresh = acked.filter((ack) => !ack.duplicate).map((ack) => ack.seq)
  if (fresh.length > 0) await redriveLost(trx, { madeAt: stream.madeAt, lastSeq: Math.min(...fresh) - 1 })
  await sql`
    update outbox set published_at = clock_timestamp(), stream_made_at = ${stream.madeAt}::timestamptz, stream_seq = acked.seq
    from unnest(${acked.map((ack) => ack.row.id)}::uuid[], ${acked.map((ack) => ack.seq)}::bigint[]) as acked (id, seq)
    where outbox.id = acked.id`.execute(trx)
  for (const { row } of acked) published.inc({ type: row.type, outcome: 'published' })
}

/** Two relays at once would do no harm but to the order of events. */
async function takeTurn (trx: Transaction<OutboxTables>) {
  const lock = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(current_schema() || '.outbox', 0)) as mine`.execute(trx)
  return lock.rows[0]?.mine === true
}

/** Rows that are in another stream than this, or beyond its end, are lost: they wait again, the oldest first. */
async function redriveLost (db: Db, { madeAt, lastSeq }: StreamState) {
  for (let lost = CHUNK; lost === CHUNK;) {
    const { numAffectedRows } = await sql`
      update outbox set published_at = null, stream_made_at = null, stream_seq = null
      where id in (
        select id from outbox
        where stream_seq is not null and (
          stream_made_at < ${madeAt}::timestamptz or stream_made_at > ${madeAt}::timestamptz
          or stream_made_at = ${madeAt}::timestamptz and stream_seq > ${lastSeq}::bigint
        )
        order by stream_made_at, stream_seq
        limit ${sql.lit(CHUNK)}
      )`.execute(db)
    lost = Number(numAffectedRows ?? 0)
  }
}

/** Deletes a chunk of what no longer matters; returns how much it was. */
export async function clearOld (db: Db) {
  // Both ids are UUIDv7, made in time order, so the primary keys serve as indexes on time.
  const events = await sql`
    delete from outbox where id in (
      select id from outbox where id < (select uuidv7(interval '-72 hours')) and published_at is not null
      order by id limit ${sql.lit(CHUNK)} for update skip locked
    )`.execute(db)
  const spent = await sql`
    delete from processed_events where (event_id, consumer) in (
      select event_id, consumer from processed_events where event_id < (select uuidv7(interval '-14 days'))
      order by event_id limit ${sql.lit(CHUNK)} for update skip locked
    )`.execute(db)
  return Math.max(Number(events.numAffectedRows), Number(spent.numAffectedRows))
}
