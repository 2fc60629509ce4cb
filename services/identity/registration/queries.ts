import { sql } from 'kysely'
import { hasLiveCode } from '../codes/queries.ts'
import type { Db } from '../tables.ts'

/** By which ways an address signs in; undefined when it is unknown. */
export async function findSignInWays (db: Db, email: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email)
    .select([
      'id',
      sql<boolean>`password_hash is not null`.as('hasPassword'),
      sql<boolean>`email_verified_at is not null`.as('isVerified'),
      sql<boolean>`exists (select from provider_links where account_id = accounts.id and provider = 'PROVIDER_A')`.as('hasProviderA'),
      sql<boolean>`exists (select from provider_links where account_id = accounts.id and provider = 'PROVIDER_B')`.as('hasProviderB')
    ])
    .executeTakeFirst()
  return account && { ...account, method: chooseMethod(account) }
}

interface Ways { hasPassword: boolean, isVerified: boolean, hasProviderA: boolean, hasProviderB: boolean }

function chooseMethod ({ hasPassword, isVerified, hasProviderA, hasProviderB }: Ways): 'credentials' | 'provider_a' | 'provider_b' {
  // A mailed code is the way on for who has not verified his address, and for who has no other way.
  if (hasPassword || !isVerified) return 'credentials'
  if (hasProviderA) return 'provider_a'
  return hasProviderB ? 'provider_b' : 'credentials'
}

/** How far an account is with its verification. */
export async function findVerification (db: Db, accountId: string) {
  return await db.selectFrom('accounts').where('id', '=', accountId).where('lapsed_at', 'is', null)
    .select([sql<boolean>`email_verified_at is not null`.as('emailVerified'), hasLiveCode('VERIFY').as('hasCode')])
    .executeTakeFirst()
}
