import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/** The public halves of all keys whose tokens may still be in use, or soon will be. */
export async function listPublicKeys (db: Db) {
  const keys = await db.selectFrom('signing_keys').select('public_key').orderBy('signs_from', 'desc').execute()
  return keys.map((key) => key.public_key)
}

/** The same, and when they were read, by the clock of Postgres: the one clock that all replicas share. */
export async function readKeySet (db: Db) {
  const rows = await db.selectFrom('signing_keys').select(['public_key', sql<Date>`now()`.as('read_at')]).orderBy('signs_from', 'desc').execute()
  return { keys: rows.map((row) => row.public_key), readAt: rows[0]?.read_at ?? new Date() }
}

/** The key that signs now. */
export async function readSigningKey (db: Db) {
  return await db.selectFrom('signing_keys').select(['kid', 'sealed'])
    .where('signs_from', '<=', sql<Date>`now()`)
    .orderBy('signs_from', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}
