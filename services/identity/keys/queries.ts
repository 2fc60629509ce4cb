import { sql } from 'kysely'
import type { Db } from '../tables.ts'

/**
 * The public keys of all tokens that may be in use, and of the key that signs next, with the time they were read, by the
 * clock of Postgres, which all replicas share.
 */
export async function readKeySet (db: Db) {
  const rows = await db.selectFrom('signing_keys').select(['public_key', sql<Date>`now()`.as('read_at')]).orderBy(
    'signs_from',
    'desc'
  ).execute()
  return { keys: rows.map((row) => row.public_key), issuedAt: rows[0]?.read_at.getTime() ?? Date.now() }
}

/** The current signing key. */
export async function readSigningKey (db: Db) {
  return await db.selectFrom('signing_keys').select(['kid', 'encrypted_private_key as encryptedPrivateKey'])
    .where('signs_from', '<=', sql<Date>`now()`)
    .orderBy('signs_from', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}
