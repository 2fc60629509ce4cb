import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import type { Db, Trx } from '../schema.ts'
import { endSessions } from '../sessions/actions.ts'
import type { LockedAccount } from './queries.ts'

interface PersonCopy { accountId: string, name: string, image: string | null, locale: string }

/** Keeps the copy of a person that is shown while the profile service is away. News that come late do not undo newer ones. */
export async function keepPerson (db: Db, { accountId, name, image, locale }: PersonCopy, at: Date) {
  await db.updateTable('accounts')
    .set({ name, image, locale, person_changed_at: at, updated_at: sql`now()` })
    .where('id', '=', accountId)
    .where((where) => where.or([where('person_changed_at', 'is', null), where('person_changed_at', '<', at)]))
    .execute()
}

/**
 * Marks the address as its holder's own. If `byWhom` came from another network than whoever registered, that may have been
 * a stranger who took the address first: his password and sessions must not become a way into the account.
 */
export async function verifyAccount (trx: Trx, account: LockedAccount, byWhom: 'THE_SAME' | 'SOMEBODY_ELSE') {
  const clears = byWhom === 'SOMEBODY_ELSE'
  await trx.updateTable('accounts')
    .set({ email_verified_at: sql`now()`, updated_at: sql`now()`, ...(clears && { password_hash: null }) })
    .where('id', '=', account.id)
    .execute()
  if (clears) {
    await endSessions(trx, { accountId: account.id })
    if (account.passwordHash) await record(trx, PasswordChanged, account.id, { accountId: account.id, how: 'CLEARED' })
  }
  await record(trx, AccountVerified, account.id, { accountId: account.id })
}
