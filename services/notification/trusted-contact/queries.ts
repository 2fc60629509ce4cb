import type { Db } from '../tables.ts'

const contactColumns = ['name', 'email', 'status'] as const

/** The trusted contact of an account. */
export async function findContact (db: Db, accountId: string) {
  return await db.selectFrom('trusted_contacts').where('account_id', '=', accountId).select(contactColumns)
    .executeTakeFirst()
}

/** The same with what mails to it need, if the person has agreed. */
export async function findConfirmedContact (db: Db, accountId: string) {
  return await db.selectFrom('trusted_contacts').where('account_id', '=', accountId).where('status', '=', 'CONFIRMED')
    .select(['id', 'email', 'locale']).executeTakeFirst()
}
