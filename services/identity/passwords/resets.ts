import { sql } from 'kysely'
import { LIFETIMES } from '../lifetimes.ts'
import { digestOfToken } from '../random-tokens.ts'
import type { Db, Trx } from '../tables.ts'

interface Link {
  email: string
  token: string
}

/** Stores `token` as the current one. It replaces an earlier link. */
export async function storeReset (trx: Trx, accountId: string, token: string) {
  const stored = { digest: digestOfToken(token), expires_at: sql<Date>`now() + ${LIFETIMES.RESET}::interval` }
  await trx.insertInto('password_resets').values({ account_id: accountId, ...stored })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(stored))
    .execute()
}

/** Whether a mailed link is still valid. */
export async function isResetValid (db: Db, { email, token }: Link) {
  const reset = await db.selectFrom('password_resets').innerJoin('accounts', 'accounts.id', 'account_id')
    .where('email', '=', email)
    .where('digest', '=', digestOfToken(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .select('account_id')
    .executeTakeFirst()
  return reset !== undefined
}

/** Deletes a reset link, so that it can be used once. @returns whether it was valid */
export async function redeemReset (trx: Trx, accountId: string, token: string) {
  const redeemed = await trx.deleteFrom('password_resets')
    .where('account_id', '=', accountId)
    .where('digest', '=', digestOfToken(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('account_id')
    .executeTakeFirst()
  return redeemed !== undefined
}
