import { sql } from 'kysely'
import { LIFETIMES } from './lifetimes.ts'
import { digestOfToken } from './random-tokens.ts'
import type { Trx } from './tables.ts'

/**
 * A link of a mail to `page`. Its parameters are in the fragment, which browsers never send to a server: in the query, a
 * token would end up in the log of every proxy.
 */
export const linkTo = (page: string, parameters: Record<string, string>) =>
  `${page}#${new URLSearchParams(parameters).toString()}`

/** The links that reset the password of an account, or delete it. */
const TABLES = { RESET: 'password_resets', DELETION: 'deletion_links' } as const
type LinkKind = keyof typeof TABLES

interface Link {
  accountId: string
  token: string
}

/** Stores a link as the current one of its account. It replaces an earlier one. */
export async function storeLink (trx: Trx, kind: LinkKind, { accountId, token }: Link) {
  const stored = { digest: digestOfToken(token), expires_at: sql<Date>`now() + ${LIFETIMES[kind]}::interval` }
  await trx.insertInto(TABLES[kind]).values({ account_id: accountId, ...stored })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(stored))
    .execute()
}

/** Deletes a link, so that it can be used once. The caller holds the lock of the account. @returns whether it was valid */
export async function redeemLink (trx: Trx, kind: LinkKind, { accountId, token }: Link) {
  const redeemed = await trx.deleteFrom(TABLES[kind])
    .where('account_id', '=', accountId).where('digest', '=', digestOfToken(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('account_id').executeTakeFirst()
  return redeemed !== undefined
}
