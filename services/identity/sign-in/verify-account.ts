import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import type { LockedAccount } from '../accounts/queries.ts'
import { discardPendingChanges } from '../pending-changes.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { deleteNetworks } from '../sessions/networks.ts'
import type { Trx } from '../tables.ts'

/**
 * Marks the address as verified. If somebody other than the registrant verified it, the registrant may have been an
 * attacker who registered the address first: their password and sessions must not give access to the account.
 */
export async function verifyAccount (trx: Trx, account: LockedAccount, verifiedBy: 'REGISTRANT' | 'SOMEBODY_ELSE') {
  const revokesAccess = verifiedBy === 'SOMEBODY_ELSE'
  await trx.updateTable('accounts')
    .set({ email_verified_at: sql`now()`, updated_at: sql`now()`, ...(revokesAccess && { password_hash: null }) })
    .where('id', '=', account.id)
    .execute()
  if (revokesAccess) {
    await deleteNetworks(trx, account.id)
    await discardPendingChanges(trx, account.id)
    await endSessions(trx, { accountId: account.id })
    if (account.passwordHash) {
      await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId: account.id, detail: { how: 'CLEARED' } })
      await publish(trx, PasswordChanged, account.id, { accountId: account.id, how: 'CLEARED' })
    }
  }
  await publish(trx, AccountVerified, account.id, { accountId: account.id })
}
