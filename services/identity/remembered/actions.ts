import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { digestsOfEmail, digestOfProvider } from './digests.ts'

const BAN_LIFETIME = '36 months'

/** Remembers what a banned account signed in with, so that the ban survives its deletion. */
export async function rememberBan (trx: Trx, secrets: Deps['secrets'], accountId: string) {
  const account = await trx.selectFrom('accounts').where('id', '=', accountId)
    // An expired account is barred too, but nobody banned it.
    .where('banned_at', 'is not', null).where('expired_at', 'is', null)
    .select('email').executeTakeFirst()
  if (!account) return
  const links = await trx.selectFrom('provider_links').where('account_id', '=', accountId)
    .select(['provider', 'subject']).execute()
  const digests = [
    ...digestsOfEmail(secrets, account.email),
    ...links.map(({ provider, subject }) => digestOfProvider(secrets, provider, subject))
  ]
  await trx.insertInto('remembered')
    .values(digests.map((digest) => ({ digest, until: sql<Date>`now() + ${BAN_LIFETIME}::interval` })))
    .onConflict((conflict) => conflict.column('digest').doUpdateSet({ until: sql`excluded.until` }))
    .execute()
}
