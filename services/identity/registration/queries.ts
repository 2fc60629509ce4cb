import { sql } from 'kysely'
import { findOpenCode } from '../codes/queries.ts'
import type { Db, Provider } from '../tables.ts'

/** The sign-in methods of an address; undefined if it is unknown. */
export async function findSignInMethods (db: Db, email: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email)
    .select([
      'id',
      sql<boolean>`password_hash is not null`.as('hasPassword'),
      sql<boolean>`email_verified_at is not null`.as('isVerified'),
      hasProvider('PROVIDER_A').as('hasProviderA'),
      hasProvider('PROVIDER_B').as('hasProviderB')
    ])
    .executeTakeFirst()
  return account && { ...account, method: chooseMethod(account) }
}

const hasProvider = (provider: Provider) =>
  sql<boolean>`exists (select from provider_links where account_id = accounts.id and provider = ${provider})`

interface SignInMethods {
  hasPassword: boolean
  isVerified: boolean
  hasProviderA: boolean
  hasProviderB: boolean
}

function chooseMethod (
  { hasPassword, isVerified, hasProviderA, hasProviderB }: SignInMethods
): 'credentials' | 'provider_a' | 'provider_b' {
  // A mailed code works for an unverified address, and for an account without any other method.
  if (hasPassword || !isVerified) return 'credentials'
  if (hasProviderA) return 'provider_a'
  return hasProviderB ? 'provider_b' : 'credentials'
}

/** Whether an account is verified, and whether a caller in `network` may enter its code. */
export async function findVerification (db: Db, accountId: string, network: string) {
  // Read first: a verification at the same moment deletes the code, and then the account below is verified.
  const code = await findOpenCode(db, { accountId, purpose: 'VERIFY', network })
  const account = await db.selectFrom('accounts').where('id', '=', accountId).where('expired_at', 'is', null)
    .select(sql<boolean>`email_verified_at is not null`.as('emailVerified'))
    .executeTakeFirst()
  return account && { ...account, hasCode: code !== undefined }
}
