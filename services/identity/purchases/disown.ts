import type { Trx } from '../tables.ts'

/** The store goes on to bill what it sold. It belongs to the account in which it is restored next. */
export async function disownPurchases (trx: Trx, accountId: string) {
  const disowned = await trx.updateTable('purchases').set({ account_id: null }).where('account_id', '=', accountId)
    .executeTakeFirst()
  return Number(disowned.numUpdatedRows)
}
