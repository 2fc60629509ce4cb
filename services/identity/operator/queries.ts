import { UserNotFound } from '../errors.ts'
import type { Db } from '../schema.ts'

export async function findAccountIdByEmail (db: Db, email: string) {
  const account = await db.selectFrom('accounts').where('email', '=', email.toLowerCase()).select('id').executeTakeFirst()
  if (!account) throw new UserNotFound()
  return account.id
}
