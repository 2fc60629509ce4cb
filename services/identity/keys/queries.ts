import { sql } from 'kysely'
import type { Db } from '../schema.ts'

/** The public halves of all keys whose tokens may still be in use, or soon will be. */
export async function listPublicKeys (db: Db) {
  const keys = await db.selectFrom('signing_keys').select('public_key').orderBy('signs_from', 'desc').execute()
  return keys.map((key) => key.public_key)
}

/** The key that signs now. */
export async function readSigningKey (db: Db) {
  return await db.selectFrom('signing_keys').select(['kid', 'sealed'])
    .where('signs_from', '<=', sql<Date>`now()`)
    .orderBy('signs_from', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}
