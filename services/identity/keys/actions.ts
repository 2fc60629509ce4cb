import { exportJWK, generateKeyPair } from 'jose'
import { sql } from 'kysely'
import type { Db, PublicKey, Trx } from '../schema.ts'
import type { Secrets } from '../secrets.ts'

// Whoever verifies tokens refreshes his keys every five minutes: a new key is published this long before it signs,
const PUBLISHED_BEFORE = '15 minutes'
// and the old one stays until the last token it signed has expired.
const KEPT_AFTER = '20 minutes'

/** Makes the first signing key of a new installation, which signs at once. */
export async function ensureSigningKey (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await lockKeys(trx)
    const known = await trx.selectFrom('signing_keys').select('kid').limit(1).executeTakeFirst()
    if (!known) await addKey(trx, secrets, '0')
  })
}

/** Adds a key that takes over in 15 minutes, and drops those that were replaced long enough ago. */
export async function rotateSigningKeys (db: Db, secrets: Secrets) {
  await db.transaction().execute(async (trx) => {
    await lockKeys(trx)
    await addKey(trx, secrets, PUBLISHED_BEFORE)
    await sql`
      delete from signing_keys old where exists (
        select from signing_keys next
        where next.signs_from > old.signs_from and next.signs_from < now() - ${KEPT_AFTER}::interval)`.execute(trx)
  })
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
