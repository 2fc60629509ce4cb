import { sql, type Generated, type Kysely, type Selectable } from 'kysely'
import { decideFirstRetry, decideNextRetry, type Failure } from './retry-policy.ts'

export interface FailedMessageTables {
  failed_messages: {
    key: string,
    stream: string,
    type: string,
    message: string,
    traceparent: string | null,
    request_id: string | null,
    attempts: number,
    error: string,
    first_failed_at: Generated<Date>,
    next_attempt_at: Date | null,
    // Since when the message is a dead letter. The name is older than that term.
    parked_at: Date | null
  }
}

type Db = Kysely<FailedMessageTables>

/**
 * A due message, claimed for a minute. If the process crashes, another one can claim it then. A message that an
 * operator replays is tried only once.
 */
export type DueMessage = Selectable<FailedMessageTables['failed_messages']>

/** A message that could not be handled. `key` is the event's id, or its position in the stream if it has none. */
export type FailedMessage = Pick<
  DueMessage,
  'key' | 'stream' | 'type' | 'message' | 'traceparent' | 'request_id'
>

/**
 * Stores a message that failed. It is retried from here, not by the broker: it does not take one of the consumer's
 * limited unacknowledged messages, and its attempts stay counted when the broker crashes.
 * @returns whether this call made it a dead letter
 */
export async function insertFailed (db: Db, failed: FailedMessage, failure: Failure) {
  const { attempts, retryInMs } = decideFirstRetry(failure)
  const inserted = await db.insertInto('failed_messages')
    .values({
      ...failed,
      message: storable(failed.message),
      attempts,
      error: storable(String(failure.error)),
      next_attempt_at: retryInMs === undefined ? null : inMilliseconds(retryInMs),
      parked_at: retryInMs === undefined ? sql<Date>`now()` : null
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst()
  return inserted !== undefined && retryInMs === undefined
}

/** Claims at most `limit` due messages. An attempt is counted before it starts, because it may crash the process. */
export async function claimDue (db: Db, limit: number): Promise<DueMessage[]> {
  return await db.updateTable('failed_messages')
    .set({
      attempts: sql`attempts + 1`,
      next_attempt_at: sql<Date>`case when parked_at is null then now() + interval '1 minute' end`
    })
    .where('key', 'in', (due) =>
      due.selectFrom('failed_messages').select('key')
        .where('next_attempt_at', '<=', sql<Date>`now()`)
        .orderBy('next_attempt_at')
        .limit(limit)
        .forUpdate().skipLocked())
    .returningAll()
    .execute()
}

/**
 * Records that a due message failed again. It is retried later, or becomes a dead letter.
 * @returns whether this call made it a dead letter
 */
export async function markFailed (db: Db, due: DueMessage, failure: Failure) {
  const wasDeadLetter = due.parked_at !== null
  const ageMs = Date.now() - due.first_failed_at.getTime()
  const { attempts, retryInMs } = decideNextRetry(
    { attempts: due.attempts, ageMs, isDeadLetter: wasDeadLetter },
    failure
  )
  await db.updateTable('failed_messages')
    .set({
      attempts,
      error: storable(String(failure.error)),
      next_attempt_at: retryInMs === undefined ? null : inMilliseconds(retryInMs),
      parked_at: retryInMs === undefined ? due.parked_at ?? sql<Date>`now()` : null
    })
    .where('key', '=', due.key)
    .execute()
  return retryInMs === undefined && !wasDeadLetter
}

export async function remove (db: Db, key: string) {
  await db.deleteFrom('failed_messages').where('key', '=', key).execute()
}

/** Messages that are retried only when an operator replays them, oldest first. */
export async function listDeadLetters (db: Db, { limit }: { limit?: number } = {}) {
  return await db.selectFrom('failed_messages')
    .select(['key', 'type', 'attempts', 'error', 'first_failed_at as firstFailedAt', 'parked_at as deadSince'])
    .where('parked_at', 'is not', null)
    .orderBy('parked_at')
    .$if(limit !== undefined, (letters) => letters.limit(limit!))
    .execute()
}

/** @returns whether there was such a dead letter */
export async function deleteDeadLetter (db: Db, key: string) {
  const { numDeletedRows } = await db.deleteFrom('failed_messages').where('key', '=', key)
    .where('parked_at', 'is not', null).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Lets the running service retry dead letters once; returns how many. One that fails again stays a dead letter. */
export async function requestReplay (db: Db, keys: string[] | 'all') {
  const deadLetters = db.updateTable('failed_messages').set({ next_attempt_at: inMilliseconds(0) }).where(
    'parked_at',
    'is not',
    null
  )
  const requested = await (keys === 'all' ? deadLetters : deadLetters.where('key', 'in', keys)).returning('key')
    .execute()
  return requested.length
}

// By the clock of Postgres, which decides what is due.
const inMilliseconds = (delayMs: number) => sql<Date>`now() + ${delayMs} * interval '1 millisecond'`

// Postgres text cannot hold NUL, and a message that cannot even be stored would come back forever.
const storable = (text: string) => text.replaceAll('\0', '\uFFFD')
