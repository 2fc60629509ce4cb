import { sql } from 'kysely'
import { findOpenCode } from '../codes/queries.ts'
import type { Db } from '../tables.ts'
import { hasKnownNetwork } from '../sessions/networks.ts'

/** The data that a password sign-in from `network` needs. */
export async function findCredentials (db: Db, email: string, network: string) {
  return await db.selectFrom('accounts').where('email', '=', email).where('expired_at', 'is', null)
    .select([
      'id',
      'password_hash as passwordHash',
      hasKnownNetwork(network).as('hasKnownNetwork'),
      sql<
        boolean
      >`password_hash is null and coalesce((select bool_and(provider = 'PROVIDER_A') from provider_links
        where account_id = accounts.id), false)`
        .as('hasOnlyProviderA')
    ])
    .executeTakeFirst()
}

/** Whether the address has a mailed sign-in code that a caller in `network` may enter. */
export async function hasSignInCode (db: Db, email: string, network: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email).select('id').executeTakeFirst()
  const code = account && await findOpenCode(db, { accountId: account.id, purpose: 'SIGN_IN', network })
  return code !== undefined
}
