import { sql } from 'kysely'
import type { Db } from '../tables.ts'

export async function findPassword (db: Db, accountId: string) {
  return await db.selectFrom('accounts').where('id', '=', accountId).where('banned_at', 'is', null)
    .select(['email', 'password_hash as hash', sql<boolean>`email_verified_at is not null`.as('emailVerified')])
    .executeTakeFirst()
}
