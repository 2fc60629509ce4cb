import { sql } from 'kysely'
import { createMail, renderMail } from '@tandem/mail-kit'
import type { Db, Trx } from '../tables.ts'

/** Names the mail that is still to be sent when everything else of the account is erased. */
export const receiptKeyOf = (accountId: string) => `erased:${accountId}`

/**
 * Blanks the row of an account, except for its id and date: the numbers of later members count it. In the same
 * transaction the owner is sent the receipt, at the address that is known for the last time.
 */
export async function eraseAccount (trx: Trx, accountId: string) {
  const account = await trx.selectFrom('accounts').where('id', '=', accountId).where('registered_network', '<>', '')
    .select(['email', 'locale', sql<boolean>`expired_at is not null`.as('isExpired')]).forUpdate().executeTakeFirst()
  if (!account) return 0
  if (!account.isExpired) {
    await createMail(trx, {
      dedupeKey: receiptKeyOf(accountId),
      recipient: account.email,
      accountId,
      rateLimited: false,
      ...renderMail({ kind: 'erased', locale: account.locale })
    })
  }
  await trx.updateTable('accounts')
    .set({
      // Not a valid address, so it cannot collide with an account.
      email: `erased ${accountId}`,
      name: '',
      image: null,
      locale: 'en',
      role: 'USER',
      password_hash: null,
      email_verified_at: null,
      registered_network: '',
      referral_code: `erased ${accountId}`,
      banned_at: sql`now()`,
      expired_at: sql`now()`,
      person_changed_at: null,
      account_token: null,
      uses_sandbox: false,
      leaving_at: null,
      paused_at: null,
      restricted_until: null,
      suspended: false,
      suspension_changed_at: null,
      updated_at: sql`now()`
    })
    .where('id', '=', accountId)
    .execute()
  return 1
}

/** The mail with the receipt, until it is sent. */
export async function findReceiptMail (db: Db, accountId: string) {
  const mail = await db.selectFrom('mails').where('dedupe_key', '=', receiptKeyOf(accountId))
    .where('status', '=', 'pending').select('id').executeTakeFirst()
  return mail?.id
}
