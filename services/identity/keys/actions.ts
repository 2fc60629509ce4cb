import { generateKeyPairSync } from 'node:crypto'
import { sql } from 'kysely'
import { ConfigError } from '@tandem/process-kit'
import type { Db, PublicKey, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { readSigningKey } from './queries.ts'

// Services and gateways refresh their keys every five minutes. A new key is published this long before it signs,
const PUBLISHED_BEFORE_USE = '15 minutes'
// and the old key stays until the last token that it signed has expired.
const RETIRED_AFTER = '20 minutes'

/**
 * Creates the first signing key of a new installation; it signs at once.
 * @throws ConfigError if `secrets` cannot decrypt the existing key
 */
export async function ensureSigningKey (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await lockKeys(trx)
    const existing = await trx.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst()
    if (!existing) await addKey(trx, secrets, '0')
  })
  const { encryptedPrivateKey } = await readSigningKey(db)
  try {
    secrets.decrypt(encryptedPrivateKey)
  } catch {
    throw new ConfigError(
      'SECRET is not the one that the signing keys in this database were encrypted with. Restore it, ' +
        'or, if it is lost, run `npm run operator -- keys replace` with a new one'
    )
  }
}

/** Adds a key that starts to sign in 15 minutes. */
export async function rotateSigningKeys (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => await addKey(trx, secrets, PUBLISHED_BEFORE_USE))
}

/** Adds a key that signs at once. For up to half a minute other processes may not know it yet and reject its tokens. */
export async function replaceSigningKeys (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('signing_keys').where('signs_from', '>', sql<Date>`now()`).execute()
    await addKey(trx, secrets, '0')
  })
}

/** Deletes the replaced keys whose last tokens have expired. */
export async function deleteReplacedKeys (db: Db) {
  await sql`
    delete from signing_keys old where exists (
      select from signing_keys next
      where next.signs_from > old.signs_from and next.signs_from < now() - ${RETIRED_AFTER}::interval)`.execute(db)
}

async function lockKeys (trx: Trx) {
  await sql`lock table signing_keys in share row exclusive mode`.execute(trx)
}

async function addKey (trx: Trx, secrets: Secrets, signsAfter: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = crypto.randomUUID()
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' })
  await trx.insertInto('signing_keys').values({
    kid,
    encrypted_private_key: secrets.encrypt(JSON.stringify(privateKey.export({ format: 'jwk' }))),
    public_key: JSON.stringify({ kid, kty, crv, x, y } as PublicKey),
    signs_from: sql<Date>`now() + ${signsAfter}::interval`
  }).execute()
}
