import type { Trx } from '../tables.ts'

/**
 * The store goes on to bill what it sold. It belongs to the account in which it is restored next. RevenueCat knows it by
 * the token of the account, with which nobody can restore it.
 */
export async function disownPurchases (trx: Trx, accountId: string) {
  const deleted = await trx.deleteFrom('purchases').where('account_id', '=', accountId)
    .where('store', '=', 'REVENUECAT').executeTakeFirst()
  const disowned = await trx.updateTable('purchases').set({ account_id: null }).where('account_id', '=', accountId)
    .executeTakeFirst()
  return Number(deleted.numDeletedRows) + Number(disowned.numUpdatedRows)
}
