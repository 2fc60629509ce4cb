import { sql, type Generated, type Kysely } from 'kysely'

export interface FailedMessageTables {
  failed_messages: {
    key: string
    stream: string
    type: string
    message: string
    traceparent: string | null
    attempts: number
    error: string
    first_failed_at: Generated<Date>
    attempt_at: Date | null
    parked_at: Date | null
  }
}

type Db = Kysely<FailedMessageTables>

/** A message that cannot be handled now. `key` is the event's id, or its place in the stream if it has none. */
export interface FailedMessage { key: string, stream: string, type: string, message: string, traceparent: string | null }

/** One that is due, taken for a minute: whoever dies over it leaves it to the next. One that a person asked for is tried just once. */
export interface DueMessage extends FailedMessage { attempts: number, first_failed_at: Date, parked_at: Date | null }

export const ATTEMPTS = 10
const LONGEST_WAIT = 60_000
const AFTER_BLAMELESS = 10_000
const OUT_OF_DATE = 14 * 24 * 60 * 60 * 1_000

/**
 * Keeps a message that is tried again from here, not by the broker: so it neither takes one of the places that the stream has for
 * messages under way, nor does a broker that crashes begin to count anew.
 * @param attempts how often it has failed
 * @param hopeless parks it at once
 * @returns false when it is here already
 */
export async function insertFailed (db: Db, letter: FailedMessage, { error, attempts, permanent }: { error: unknown, attempts: number, permanent: boolean }) {
  const kept = await db.insertInto('failed_messages')
    .values({
      ...letter,
      message: storable(letter.message),
      attempts,
      error: storable(String(error)),
      attempt_at: permanent ? null : afterTries(attempts),
      parked_at: permanent ? sql<Date>`now()` : null
    })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst()
  return kept !== undefined
}

/** Takes letters that are due, at most `limit`. Their try is counted before it is made, for some may kill the process that makes it. */
export async function claimDue (db: Db, limit: number): Promise<DueMessage[]> {
  return await db.updateTable('failed_messages')
    .set({ attempts: sql`attempts + 1`, attempt_at: sql<Date>`case when parked_at is null then now() + interval '1 minute' end` })
    .where('key', 'in', (due) => due.selectFrom('failed_messages').select('key')
      .where('attempt_at', '<=', sql<Date>`now()`)
      .orderBy('attempt_at')
      .limit(limit)
      .forUpdate().skipLocked())
    .returning(['key', 'stream', 'type', 'message', 'traceparent', 'attempts', 'first_failed_at', 'parked_at'])
    .execute()
}

/**
 * Notes that a due letter failed again: it is tried later, or parked.
 * @param blameless the failure was another's and counts as no try, though not for ever
 * @returns whether it was parked now
 */
export async function markFailed (db: Db, due: DueMessage, { error, transient, permanent }: { error: unknown, transient: boolean, permanent: boolean }) {
  const attempts = transient ? due.attempts - 1 : due.attempts
  const parked = permanent || due.parked_at !== null || attempts >= ATTEMPTS || Date.now() - due.first_failed_at.getTime() > OUT_OF_DATE
  await db.updateTable('failed_messages')
    .set({
      attempts,
      error: storable(String(error)),
      attempt_at: parked ? null : transient ? inMilliseconds(AFTER_BLAMELESS) : afterTries(attempts),
      parked_at: parked ? due.parked_at ?? sql<Date>`now()` : null
    })
    .where('key', '=', due.key)
    .execute()
  return parked && due.parked_at === null
}

export async function remove (db: Db, key: string) {
  await db.deleteFrom('failed_messages').where('key', '=', key).execute()
}

/** What waits for a person, oldest first. */
export async function listParked (db: Db) {
  return await db.selectFrom('failed_messages')
    .select(['key', 'type', 'attempts', 'error', 'first_failed_at as firstFailedAt', 'parked_at as parkedAt'])
    .where('parked_at', 'is not', null)
    .orderBy('parked_at')
    .execute()
}

/** Lets the running service try parked messages once more; returns how many. What fails again stays parked. */
export async function requestReplay (db: Db, keys: string[] | 'all') {
  const parked = db.updateTable('failed_messages').set({ attempt_at: inMilliseconds(0) }).where('parked_at', 'is not', null)
  const asked = await (keys === 'all' ? parked : parked.where('key', 'in', keys)).returning('key').execute()
  return asked.length
}

// By the clock of Postgres, which alone says what is due.
const inMilliseconds = (wait: number) => sql<Date>`now() + ${wait} * interval '1 millisecond'`
const afterTries = (attempts: number) => inMilliseconds(attempts === 0 ? 0 : Math.min(1_000 * 2 ** (attempts - 1), LONGEST_WAIT))

// Postgres keeps no NUL in a text, and a message that cannot even be parked would come back for ever.
const storable = (text: string) => text.replaceAll('\0', '\uFFFD')
