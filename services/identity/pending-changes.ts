import type { Trx } from './tables.ts'

/**
 * Discards what an account has begun and not completed: a change of its address, proofs, and the codes for both. A new
 * password discards them, because the person that it locks out may have begun them.
 */
export async function discardPendingChanges (trx: Trx, accountId: string) {
  await trx.deleteFrom('email_changes').where('account_id', '=', accountId).execute()
  await trx.deleteFrom('proofs').where('account_id', '=', accountId).execute()
  // Codes of the other purposes belong to the owner of the mailbox.
  await trx.deleteFrom('codes').where('account_id', '=', accountId).where('purpose', 'not in', ['VERIFY', 'SIGN_IN'])
    .execute()
}
