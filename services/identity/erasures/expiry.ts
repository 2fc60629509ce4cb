import { sql } from 'kysely'
import { settleEach } from '@tandem/process-kit'
import { lockAccount } from '../accounts/queries.ts'
import { hasActiveCode } from '../codes/queries.ts'
import { deleteNetworks } from '../sessions/networks.ts'
import type { Db, Trx } from '../tables.ts'
import { bringForward, scheduleErasure } from './actions.ts'
import { findLiveErasure } from './queries.ts'

// Somebody may have registered an address that is not theirs, which would block its owner.
const VERIFICATION_DEADLINE = '72 hours'

/**
 * Releases the addresses that nobody has verified for 72 hours, unless a code mailed to one is still valid. Their
 * accounts can no longer be found, their sessions end, and they are erased in every service.
 */
export async function expireUnverifiedAccounts (db: Db) {
  const overdue = await selectOverdue(db).limit(1_000).execute()
  await settleEach(overdue, async ({ id }) => {
    await db.transaction().execute(async (trx) => {
      // Verification takes the same lock, so the two cannot interleave. The condition is checked again under the lock.
      if (!await lockAccount(trx, { id }) || !await selectOverdue(trx).where('id', '=', id).executeTakeFirst()) return
      await expireAccount(trx, id)
    })
  })
}

/**
 * Releases the address of an account that nobody verified, and schedules its erasure, or brings forward the one that is
 * scheduled. The caller holds its lock.
 */
export async function expireAccount (trx: Trx, id: string) {
  const erasure = await findLiveErasure(trx, id)
  // A held one keeps everything, the address too. One that has begun releases the address itself.
  if (erasure && !await bringForward(trx, erasure.id)) return
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
  if (!erasure) await scheduleErasure(trx, { id }, { cause: 'EXPIRY' })
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
