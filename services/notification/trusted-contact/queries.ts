import type { Db, Trx } from '../tables.ts'

const contactColumns = ['name', 'email', 'status', 'locale'] as const

/** The trusted contact of an account. */
export async function findContact (db: Db, accountId: string) {
  return await db.selectFrom('trusted_contacts').where('account_id', '=', accountId).select(contactColumns)
    .executeTakeFirst()
}

/** The same with what mails to it need, if the person has agreed. They stay the contact until the end of the transaction. */
export async function shareConfirmedContact (trx: Trx, accountId: string) {
  return await trx.selectFrom('trusted_contacts').where('account_id', '=', accountId).where('status', '=', 'CONFIRMED')
    .select(['id', 'email', 'locale']).forShare().executeTakeFirst()
}

export type ConfirmedContact = NonNullable<Awaited<ReturnType<typeof shareConfirmedContact>>>
