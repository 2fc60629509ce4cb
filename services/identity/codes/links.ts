import { sql } from 'kysely'
import { lockAccount } from '../accounts/queries.ts'
import { digestOfToken } from '../random-tokens.ts'
import type { PublicPurpose, Trx } from '../tables.ts'

/** Locks the account that a valid link belongs to, and deletes the link, so that it can be used once. */
export async function redeemCodeLink (trx: Trx, { purpose, token }: { purpose: PublicPurpose, token: string }) {
  const digest = digestOfToken(token)
  const link = await trx.selectFrom('code_links').where('digest', '=', digest).select('account_id').executeTakeFirst()
  const account = link && await lockAccount(trx, { id: link.account_id })
  if (!account) return
  const redeemed = await trx.deleteFrom('code_links')
    .where('digest', '=', digest).where('account_id', '=', account.id).where('purpose', '=', purpose)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('digest').executeTakeFirst()
  return redeemed && account
}
