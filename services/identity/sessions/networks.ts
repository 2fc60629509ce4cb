import { sql } from 'kysely'
import { networkOf } from '@tandem/service-kit'
import type { Db, Trx } from '../tables.ts'

const KEPT_FOR = '180 days'

/** Remembers that an account was signed in to, or its address proved, from the network of `address`. */
export async function rememberNetwork (trx: Trx, accountId: string, address: string) {
  await trx.insertInto('account_networks').values({ account_id: accountId, network: networkOf(address) })
    .onConflict((conflict) => conflict.columns(['account_id', 'network']).doUpdateSet({ signed_in_at: sql`now()` }))
    .execute()
}

/** Whether the account of a row was signed in to from `network` before; a column for a query of accounts. */
export const knowsNetwork = (network: string) => sql<boolean>`exists (
  select from account_networks known where known.account_id = accounts.id and known.network = ${network})`

export async function isKnownNetwork (db: Db, accountId: string, network: string) {
  const known = await db.selectFrom('accounts').where('id', '=', accountId).select(knowsNetwork(network).as('isKnown')).executeTakeFirst()
  return known?.isKnown ?? false
}

export async function forgetNetworks (trx: Trx, accountId: string) {
  await trx.deleteFrom('account_networks').where('account_id', '=', accountId).execute()
}

/** Forgets the networks that nobody has signed in from for 180 days, which is as long as a session may last. */
export async function forgetOldNetworks (db: Db) {
  await sql`delete from account_networks where signed_in_at < now() - ${KEPT_FOR}::interval`.execute(db)
}
