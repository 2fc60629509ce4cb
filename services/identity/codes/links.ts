import { sql } from 'kysely'
import { lockAccount } from '../accounts/queries.ts'
import { LIFETIMES } from '../lifetimes.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import type { PublicPurpose, Trx } from '../tables.ts'

/** The pages behind the links. */
const PAGES: Record<PublicPurpose, string> = { VERIFY: 'verify-email', SIGN_IN: 'sign-in' }

/**
 * A link for a mail with a code. It is accepted however many wrong codes were entered: its token cannot be guessed. The
 * token is in the fragment, which browsers never send to a server.
 */
export function createCodeLink (publicUrl: string, purpose: PublicPurpose) {
  const token = generateToken()
  return { token, url: `${publicUrl}/${PAGES[purpose]}#${new URLSearchParams({ token }).toString()}` }
}

/** Stores the link of a code, which is stored first. Links of earlier mails stay valid. */
export async function storeCodeLink (
  trx: Trx,
  { accountId, purpose, token }: { accountId: string, purpose: PublicPurpose, token: string }
) {
  await trx.insertInto('code_links')
    .values({
      digest: digestOfToken(token),
      account_id: accountId,
      purpose,
      expires_at: sql<Date>`now() + ${LIFETIMES[purpose]}::interval`
    })
    .execute()
}

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
