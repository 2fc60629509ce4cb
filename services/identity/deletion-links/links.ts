import { sql } from 'kysely'
import { LIFETIMES } from '../lifetimes.ts'
import { digestOfToken } from '../random-tokens.ts'
import type { Db, Trx } from '../tables.ts'

/** Stores `token` as the current one. It replaces an earlier link. */
export async function storeDeletionLink (trx: Trx, accountId: string, token: string) {
  const stored = { digest: digestOfToken(token), expires_at: sql<Date>`now() + ${LIFETIMES.DELETION}::interval` }
  await trx.insertInto('deletion_links').values({ account_id: accountId, ...stored })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(stored))
    .execute()
}

/** The account whose link this is, while it is valid. */
export async function findLinkedAccount (db: Db, token: string) {
  const link = await db.selectFrom('deletion_links')
    .where('digest', '=', digestOfToken(token)).where('expires_at', '>', sql<Date>`now()`)
    .select('account_id').executeTakeFirst()
  return link?.account_id
}

/** Deletes a link, so that it can be used once. @returns whether it was valid */
export async function redeemDeletionLink (trx: Trx, token: string) {
  const redeemed = await trx.deleteFrom('deletion_links')
    .where('digest', '=', digestOfToken(token)).where('expires_at', '>', sql<Date>`now()`)
    .returning('account_id').executeTakeFirst()
  return redeemed !== undefined
}
