import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { deleteNetworks } from '../sessions/networks.ts'
import type { LockedAccount } from './queries.ts'

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
export async function upsertPerson (
  { db, mediaUrls }: Pick<Deps, 'db' | 'mediaUrls'>,
  { accountId, name, image, locale }: PersonCopy,
  version: Date | string
) {
  const changedAt = sql<Date>`${version}::timestamptz`
  await db.updateTable('accounts')
    .set({ name, image: mediaUrls.toStoredValue(image), locale, person_changed_at: changedAt, updated_at: sql`now()` })
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
