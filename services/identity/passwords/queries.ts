import { sql } from 'kysely'
import { digestOfToken } from '../random-tokens.ts'
import type { Db } from '../tables.ts'

export async function findPassword (db: Db, accountId: string) {
  return await db.selectFrom('accounts').where('id', '=', accountId).where('banned_at', 'is', null)
    .select(['email', 'password_hash as hash', sql<boolean>`email_verified_at is not null`.as('emailVerified')])
    .executeTakeFirst()
}

/** Whether a mailed link is still valid, and that of this address. */
export async function isResetValid (db: Db, { email, token }: { email: string, token: string }) {
  const reset = await db.selectFrom('password_resets').innerJoin('accounts', 'accounts.id', 'account_id')
    .where('email', '=', email).where('digest', '=', digestOfToken(token)).where('expires_at', '>', sql<Date>`now()`)
    .select('account_id').executeTakeFirst()
  return reset !== undefined
}
