import { exportJWK, generateKeyPair } from 'jose'
import { sql } from 'kysely'
import { ConfigError } from '@tandem/service-kit'
import type { Db, PublicKey, Trx } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { readSigningKey } from './queries.ts'

// Whoever verifies tokens refreshes his keys every five minutes: a new key is published this long before it signs,
const PUBLISHED_BEFORE = '15 minutes'
// and the old one stays until the last token it signed has expired.
const KEPT_AFTER = '20 minutes'

/** Makes the first signing key of a new installation, which signs at once. @throws ConfigError when `secrets` cannot open the one there is */
export async function ensureSigningKey (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await lockKeys(trx)
    const known = await trx.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst()
    if (!known) await addKey(trx, secrets, '0')
  })
  const { sealed } = await readSigningKey(db)
  try {
    secrets.unseal(sealed)
  } catch {
    throw new ConfigError('SECRET is not the one that the signing keys in this database were sealed with: set it back, ' +
      'or, if it is lost, run `pnpm --filter @tandem/identity keys replace` with a new one')
  }
}

/** Adds a key that takes over in 15 minutes. */
export async function rotateSigningKeys (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => await addKey(trx, secrets, PUBLISHED_BEFORE))
}

/** Adds a key that takes over at once. For half a minute others may not know it yet, and refuse its tokens. */
export async function replaceSigningKeys (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('signing_keys').where('signs_from', '>', sql<Date>`now()`).execute()
    await addKey(trx, secrets, '0')
  })
}

/** Forgets the keys whose last tokens have expired. */
export async function dropReplacedKeys (db: Db) {
  await sql`
    delete from signing_keys old where exists (
      select from signing_keys next
      where next.signs_from > old.signs_from and next.signs_from < now() - ${KEPT_AFTER}::interval)`.execute(db)
}

async function lockKeys (trx: Trx) {
  await sql`lock table signing_keys in share row exclusive mode`.execute(trx)
}

async function addKey (trx: Trx, secrets: Secrets, signsIn: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const kid = crypto.randomUUID()
  const { kty, crv, x, y } = await exportJWK(publicKey)
  await trx.insertInto('signing_keys').values({
    kid,
    sealed: secrets.seal(JSON.stringify(await exportJWK(privateKey))),
    public_key: JSON.stringify({ kid, kty, crv, x, y } as PublicKey),
    signs_from: sql<Date>`now() + ${signsIn}::interval`
  }).execute()
}
