import { sql, type Generated, type Kysely } from 'kysely'

export interface DeadLetterTables {
  dead_letters: {
    key: string
    stream: string
    type: string
    message: string
    attempts: Generated<number>
    error: string
    first_failed_at: Generated<Date>
    parked_at: Date | null
    replay_asked_at: Date | null
  }
}

type Db = Kysely<DeadLetterTables>

/** A message that failed. `key` is the event's id, or its place in the stream if it has none that can be read. */
export interface Failure { key: string, stream: string, type: string, message: string, error: string }

/** Counts one failure; returns how often the message has failed. The broker's own count starts anew when it crashes. */
export async function countFailure (db: Db, failure: Failure) {
  const { attempts } = await db.insertInto('dead_letters').values(failure)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({
      attempts: sql`dead_letters.attempts + 1`, error: failure.error
    }))
    .returning('attempts')
    .executeTakeFirstOrThrow()
  return attempts
}

export async function park (db: Db, key: string) {
  await db.updateTable('dead_letters').set({ parked_at: new Date(), replay_asked_at: null }).where('key', '=', key).execute()
}

export async function forget (db: Db, key: string) {
  await db.deleteFrom('dead_letters').where('key', '=', key).execute()
}

export async function listParked (db: Db) {
  return await db.selectFrom('dead_letters')
    .select(['key', 'type', 'attempts', 'error', 'first_failed_at as firstFailedAt', 'parked_at as parkedAt'])
    .where('parked_at', 'is not', null)
    .orderBy('parked_at')
    .execute()
}

/** Asks the running service to handle parked messages again; returns how many. */
export async function askReplay (db: Db, keys: string[] | 'all') {
  const asked = await db.updateTable('dead_letters').set({ replay_asked_at: new Date() })
    .where('parked_at', 'is not', null)
    .$if(keys !== 'all', (query) => query.where('key', 'in', [...keys]))
    .returning('key')
    .execute()
  return asked.length
}

/** Takes one message that is to be handled again and holds it meanwhile; false when there is none. */
export async function replayOne (db: Db, handle: (message: string) => Promise<void>) {
  return await db.transaction().execute(async (trx) => {
    const row = await trx.selectFrom('dead_letters').select(['key', 'message'])
      .where('replay_asked_at', 'is not', null)
      .orderBy('replay_asked_at')
      .limit(1)
      .forUpdate().skipLocked()
      .executeTakeFirst()
    if (!row) return false

    const error = await handle(row.message).then(() => undefined, (error: unknown) => String(error))
    if (error === undefined) await trx.deleteFrom('dead_letters').where('key', '=', row.key).execute()
    else await trx.updateTable('dead_letters').set({ replay_asked_at: null, error, attempts: sql`attempts + 1` }).where('key', '=', row.key).execute()
    return true
  })
}
