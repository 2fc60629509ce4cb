import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { AccountVerified, PasswordChanged } from '@tandem/contracts'
import { hasLiveCode } from '../codes/queries.ts'
import type { Db, Trx } from '../tables.ts'
import { logSecurityEvent } from '../security-log/actions.ts'
import { endSessions } from '../sessions/actions.ts'
import { forgetNetworks } from '../sessions/networks.ts'
import { lockAccount, type LockedAccount } from './queries.ts'

interface PersonCopy { accountId: string, name: string, image: string | null, locale: string }

/** Keeps the copy of a person that is shown while the profile service is away. News that come late do not undo newer ones. */
export async function upsertPerson (db: Db, { accountId, name, image, locale }: PersonCopy, at: Date | string) {
  const changedAt = sql<Date>`${at}::timestamptz`
  await db.updateTable('accounts')
    .set({ name, image, locale, person_changed_at: changedAt, updated_at: sql`now()` })
    .where('id', '=', accountId)
    .where((where) => where.or([where('person_changed_at', 'is', null), where('person_changed_at', '<', changedAt)]))
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
    await forgetNetworks(trx, account.id)
    await endSessions(trx, { accountId: account.id })
    if (account.passwordHash) {
      await logSecurityEvent(trx, { kind: 'PASSWORD_CHANGED', accountId: account.id, detail: { how: 'CLEARED' } })
      await publish(trx, PasswordChanged, account.id, { accountId: account.id, how: 'CLEARED' })
    }
  }
  await publish(trx, AccountVerified, account.id, { accountId: account.id })
}

// Somebody may have registered an address that is not his, and would keep it from its owner.
const VERIFIED_WITHIN = '72 hours'

/**
 * Gives back the addresses that nobody has verified for 72 hours, unless a code that was mailed to one may still be typed. Their
 * accounts are found no more, and their sessions end; the rows stay, because other services know people by them.
 */
export async function expireUnverified (db: Db) {
  const late = await unverified(db).limit(1_000).execute()
  for (const { id } of late) {
    await db.transaction().execute(async (trx) => {
      // Verifying takes the same lock, so of both at once one comes first, and what is asked under it is so.
      if (!await lockAccount(trx, { id }) || !await unverified(trx).where('id', '=', id).executeTakeFirst()) return
      await trx.updateTable('accounts')
        .set({
          // No address is of this form, so nobody can have taken it.
          email: `lapsed ${id}`,
          name: '',
          image: null,
          password_hash: null,
          lapsed_at: sql`now()`,
          barred_at: sql`now()`,
          updated_at: sql`now()`
        })
        .where('id', '=', id)
        .execute()
      await trx.deleteFrom('codes').where('account_id', '=', id).execute()
      await trx.deleteFrom('password_resets').where('account_id', '=', id).execute()
      await forgetNetworks(trx, id)
      await endSessions(trx, { accountId: id })
    })
  }
}

const unverified = (db: Db) => db.selectFrom('accounts')
  .where('email_verified_at', 'is', null)
  .where('lapsed_at', 'is', null)
  // Whoever is kept out does not get his address back.
  .where('barred_at', 'is', null)
  .where('created_at', '<', sql<Date>`now() - ${VERIFIED_WITHIN}::interval`)
  .where((where) => where.not(where.or([hasLiveCode('VERIFY'), hasLiveCode('SIGN_IN')])))
  .select('id')
