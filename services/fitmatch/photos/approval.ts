import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { VerificationRevoked } from '@tandem/contracts'
import { grantBadge, revokeBadge } from '../badges/actions.ts'
import type { LockedProfile } from '../people/queries.ts'
import type { Trx } from '../tables.ts'

/** Why a verification was canceled, or an approval revoked. */
export const MAIN_PHOTO_CHANGED = 'Your main photo has changed since you sent your selfie'

/**
 * If the main photo is not one of those the selfie was submitted with, revokes the approval and cancels a pending
 * verification. Call it under the profile's lock.
 */
export async function revokeUnlessMainPhotoCompared (
  trx: Trx,
  { id, account_id: accountId, photo_verified: isVerified }: LockedProfile
) {
  const main = await trx.selectFrom('photos').where('profile_id', '=', id).where('is_main', '=', true)
    .select(['id', 'is_verified']).executeTakeFirst()
  await trx.updateTable('verifications').set({ status: 'CANCELED', reason: MAIN_PHOTO_CHANGED, decided_at: sql`now()` })
    .where('account_id', '=', accountId).where('status', '=', 'PENDING')
    .where(sql<boolean>`not exists (select from verification_photos
      where verification_id = verifications.id and photo_id = ${main?.id ?? null}::uuid)`)
    .execute()
  if (!isVerified || main?.is_verified) return
  await trx.updateTable('verifications').set({ revoked_at: sql`now()` })
    .where('account_id', '=', accountId).where('status', '=', 'APPROVED').where('revoked_at', 'is', null)
    .execute()
  await endApproval(trx, { id, account_id: accountId })
}

/** The profile is no longer shown as verified. Call it under the profile's lock. */
export async function endApproval (trx: Trx, { id, account_id: accountId }: Pick<LockedProfile, 'id' | 'account_id'>) {
  await trx.updateTable('profiles').set({ photo_verified: false }).where('id', '=', id).execute()
  await publish(trx, VerificationRevoked, accountId, { accountId })
  await revokeBadge(trx, accountId, 'PHOTO_VERIFIED')
}

/**
 * Restores an approval that was revoked since the removal of the main photo, which is back now. Call it under the
 * profile's lock.
 */
export async function restoreApproval (trx: Trx, { id, account_id: accountId }: LockedProfile, since: Date) {
  const { rows } = await sql`
    update verifications set revoked_at = null where id = (
      select id from verifications where profile_id = ${id} and status = 'APPROVED' and revoked_at >= ${since}
      order by id desc limit 1)
    returning id`.execute(trx)
  if (rows.length === 0) return
  await trx.updateTable('profiles').set({ photo_verified: true }).where('id', '=', id).execute()
  await grantBadge(trx, accountId, 'PHOTO_VERIFIED')
}
