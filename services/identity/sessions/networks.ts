import { sql } from 'kysely'
import { networkOf } from '@tandem/account-kit'
import type { Db, Trx } from '../tables.ts'

/** Records that an account signed in, or its address was verified, from the network of `address`. */
export async function saveNetwork (trx: Trx, accountId: string, address: string) {
  await trx.insertInto('account_networks').values({ account_id: accountId, network: networkOf(address) })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'network']).doUpdateSet({ last_signed_in_at: sql`now()` })
    )
    .execute()
}

/** Whether the account of a row has signed in from `network` before; a column for queries on accounts. */
export const hasKnownNetwork = (network: string) =>
  sql<boolean>`exists (
  select from account_networks known where known.account_id = accounts.id and known.network = ${network})`

export async function isKnownNetwork (db: Db, accountId: string, network: string) {
  const known = await db.selectFrom('accounts').where('id', '=', accountId).select(
    hasKnownNetwork(network).as('isKnown')
  ).executeTakeFirst()
  return known?.isKnown ?? false
}

export async function deleteNetworks (trx: Trx, accountId: string) {
  await trx.deleteFrom('account_networks').where('account_id', '=', accountId).execute()
}
