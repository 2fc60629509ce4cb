import { sql } from 'kysely'
import type { Db } from '../schema.ts'

/** By which ways an address signs in; undefined when it is unknown. */
export async function findSignInWays (db: Db, email: string) {
  return await db.selectFrom('accounts').where('email', '=', email)
    .select([
      'id',
      sql<boolean>`password_hash is not null`.as('hasPassword'),
      sql<boolean>`email_verified_at is not null`.as('isVerified'),
      sql<boolean>`exists (select from provider_links where account_id = accounts.id and provider = 'PROVIDER_A')`.as('hasProviderA'),
      sql<boolean>`exists (select from provider_links where account_id = accounts.id and provider = 'PROVIDER_B')`.as('hasProviderB')
    ])
    .executeTakeFirst()
}
