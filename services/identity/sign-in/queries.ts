import { sql } from 'kysely'
import { hasLiveCode } from '../codes/queries.ts'
import type { Db } from '../tables.ts'
import { knowsNetwork } from '../sessions/networks.ts'

/** What a sign-in by password from `network` is judged by. */
export async function findCredentials (db: Db, email: string, network: string) {
  return await db.selectFrom('accounts').where('email', '=', email).where('barred_at', 'is', null)
    .select([
      'id',
      'password_hash as passwordHash',
      knowsNetwork(network).as('knowsNetwork'),
      sql<boolean>`password_hash is null and (select array_agg(provider) from provider_links where account_id = accounts.id) = '{PROVIDER_A}'`.as('hasOnlyProviderA')
    ])
    .executeTakeFirst()
}

/** Whether a code was mailed to the address that may still be tried. */
export async function hasSignInCode (db: Db, email: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email).select(hasLiveCode('SIGN_IN').as('hasCode')).executeTakeFirst()
  return account?.hasCode ?? false
}
