import { setTimeout as sleep } from 'node:timers/promises'
import { headers, type NatsConnection } from 'nats'
import { sql, type Kysely, type Transaction } from 'kysely'
import { toEnvelope } from './envelope.ts'
import type { Bus } from './connection.ts'
import { recorded, type OutboxTables } from './outbox.ts'
import { ensureStream, streamOf, subjectOf } from './streams.ts'

const BATCH = 200
const ACK_TIMEOUT = 1_000
// Right after something was recorded the relay looks often, because it cannot see when that transaction commits.
const AWAKE_FOR = 200
const AWAKE_PAUSE = 4
const IDLE_PAUSE = 50
const TROUBLE_PAUSE = 500
const CHECK_STREAM_EVERY = 5_000
const CLEAR_EVERY = 60 * 60 * 1_000

export interface Relay { stop (): Promise<void> }

/**
 * Publishes what the outbox holds, in order, until stopped. Every replica of a service runs one; they take turns
 * under an advisory lock, and whichever dies leaves the rest to the others.
 * It needs nothing of the broker but acknowledgements: while NATS is away rows wait, and when NATS comes back
 * without what it had acknowledged, the rows of the last 72 hours that it lost are published again.
 */
export function startRelay (bus: Bus, db: Kysely<OutboxTables>): Relay {
  let stopping = false
  let awakeUntil = 0
  let wake = () => {}
  let checkedAt = 0
  let clearedAt = Date.now()

  const onRecorded = () => {
    awakeUntil = Date.now() + AWAKE_FOR
    wake()
  }
  recorded.on('event', onRecorded)
  bus.onConnect(() => { checkedAt = 0 })

  const running = (async () => {
    while (!stopping) {
      try {
        await pause(await turn())
      } catch (error) {
        bus.log.warn({ err: error }, 'the relay could not publish; it tries again')
        await sleep(TROUBLE_PAUSE)
      }
    }
  })()

  async function turn () {
    const connection = bus.current()
    if (!connection) return 0
    if (Date.now() - checkedAt > CHECK_STREAM_EVERY) {
      await redriveLost(db, await ensureStream(connection, bus.service))
      checkedAt = Date.now()
    }
    if (Date.now() - clearedAt > CLEAR_EVERY) {
      await clearOld(db)
      clearedAt = Date.now()
    }
    return await publishWaiting(db, connection, bus.service)
  }

  async function pause (published: number) {
    if (published === BATCH || stopping) return
    const awake = Date.now() < awakeUntil
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, awake ? AWAKE_PAUSE : IDLE_PAUSE)
      wake = () => {
        if (awake) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  return {
    async stop () {
      // One last turn, so that what was said before the stop does not wait for the next start.
      await turn().catch(() => {})
      stopping = true
      recorded.off('event', onRecorded)
      wake()
      await running
    }
  }
}

/** Publishes one batch; returns how many rows it took. */
async function publishWaiting (db: Kysely<OutboxTables>, connection: NatsConnection, service: string) {
  const waiting = await db.selectFrom('outbox').select('id').where('published_at', 'is', null).limit(1).executeTakeFirst()
  if (!waiting) return 0

  return await db.transaction().execute(async (trx) => {
    if (!await takeTurn(trx)) return 0
    const rows = await trx.selectFrom('outbox')
      .select(['id', 'type', 'aggregate', 'data', 'traceparent', 'occurred_at'])
      .where('published_at', 'is', null)
      .orderBy('seq')
      .limit(BATCH)
      .execute()

    const stream = connection.jetstream({ timeout: ACK_TIMEOUT })
    const sent = await Promise.allSettled(rows.map(async (row) => {
      const carried = headers()
      if (row.traceparent) carried.set('traceparent', row.traceparent)
      // The outbox id names the message, so that a repeat within ten minutes is dropped by the broker itself.
      const ack = await stream.publish(subjectOf(row.type), toEnvelope(service, row), {
        msgID: row.id, headers: carried, expect: { streamName: streamOf(service) }
      })
      return { id: row.id, ...ack }
    }))
    const acks = sent.filter((each) => each.status === 'fulfilled').map((each) => each.value)

    const fresh = acks.filter((ack) => !ack.duplicate).map((ack) => ack.seq)
    if (fresh.length > 0) await redriveLost(trx, Math.min(...fresh) - 1)
    if (acks.length > 0) {
      await sql`
        update outbox set published_at = now(), stream_seq = acked.seq
        from unnest(${acks.map((ack) => ack.id)}::uuid[], ${acks.map((ack) => ack.seq)}::bigint[]) as acked (id, seq)
        where outbox.id = acked.id`.execute(trx)
    }
    const failed = sent.find((each) => each.status === 'rejected')
    if (failed && acks.length === 0) throw failed.reason
    return rows.length
  })
}

/** Two relays at once would do no harm but to the order of events. */
async function takeTurn (trx: Transaction<OutboxTables>) {
  const lock = await sql<{ mine: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(current_schema() || '.outbox', 0)) as mine`.execute(trx)
  return lock.rows[0]?.mine === true
}

/** A stream that ends before what it once acknowledged has lost it: those rows are unpublished again. */
async function redriveLost (db: Kysely<OutboxTables>, lastInStream: number) {
  await db.updateTable('outbox')
    .set({ published_at: null, stream_seq: null })
    .where('stream_seq', '>', lastInStream)
    .execute()
}

// Both ids are UUIDv7, made in time order, so the primary keys serve as indexes on time.
async function clearOld (db: Kysely<OutboxTables>) {
  await sql`delete from outbox where id < uuidv7(interval '-72 hours') and published_at is not null`.execute(db)
  await sql`delete from inbox where event_id < uuidv7(interval '-14 days')`.execute(db)
}
