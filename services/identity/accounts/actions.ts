import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import { hasActiveCode } from '../codes/queries.ts'
import type { Db, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { deleteNetworks } from '../sessions/networks.ts'
import { lockAccount, type LockedAccount } from './queries.ts'

interface PersonCopy {
  accountId: string
  name: string
  image: string | null
  locale: string
}

/**
 * Updates the copy of a person that is shown while the profile service is unavailable. An older event never overwrites
 * a newer one.
 */
export async function upsertPerson (db: Db, { accountId, name, image, locale }: PersonCopy, version: Date | string) {
  const changedAt = sql<Date>`${version}::timestamptz`
  await db.updateTable('accounts')
    .set({ name, image, locale, person_changed_at: changedAt, updated_at: sql`now()` })
    .where('id', '=', accountId)
    .where((where) => where.or([where('person_changed_at', 'is', null), where('person_changed_at', '<', changedAt)]))
    .execute()
}

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
    await endSessions(trx, { accountId: account.id })
    if (account.passwordHash) {
      await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId: account.id, detail: { how: 'CLEARED' } })
      await publish(trx, PasswordChanged, account.id, { accountId: account.id, how: 'CLEARED' })
    }
  }
  await publish(trx, AccountVerified, account.id, { accountId: account.id })
}

// Somebody may have registered an address that is not theirs, which would block its owner.
const VERIFICATION_DEADLINE = '72 hours'

/**
 * Releases the addresses that nobody has verified for 72 hours, unless a code mailed to one is still valid. Their
 * accounts can no longer be found, and their sessions end. The rows stay, because other services refer to their ids.
 */
export async function expireUnverifiedAccounts (db: Db) {
  const overdue = await selectOverdue(db).limit(1_000).execute()
  for (const { id } of overdue) {
    await db.transaction().execute(async (trx) => {
      // Verification takes the same lock, so the two cannot interleave. The condition is checked again under the lock.
      if (!await lockAccount(trx, { id }) || !await selectOverdue(trx).where('id', '=', id).executeTakeFirst()) return
      await trx.updateTable('accounts')
        .set({
          // Not a valid address, so it cannot collide with an account.
          email: `expired ${id}`,
          name: '',
          image: null,
          password_hash: null,
          expired_at: sql`now()`,
          banned_at: sql`now()`,
          updated_at: sql`now()`
        })
        .where('id', '=', id)
        .execute()
      await trx.deleteFrom('codes').where('account_id', '=', id).execute()
      await trx.deleteFrom('password_resets').where('account_id', '=', id).execute()
      await deleteNetworks(trx, id)
      await endSessions(trx, { accountId: id })
    })
  }
}

const selectOverdue = (db: Db) =>
  db.selectFrom('accounts')
    .where('email_verified_at', 'is', null)
    .where('expired_at', 'is', null)
    // The address of a banned account is never released.
    .where('banned_at', 'is', null)
    .where('created_at', '<', sql<Date>`now() - ${VERIFICATION_DEADLINE}::interval`)
    .where((where) => where.not(where.or([hasActiveCode('VERIFY'), hasActiveCode('SIGN_IN')])))
    .select('id')
