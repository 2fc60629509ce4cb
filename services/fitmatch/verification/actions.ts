import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { VerificationDecided } from '@tandem/contracts'
import type { Image, Storage } from '@tandem/media-kit'
import { Forbidden } from '@tandem/http-kit'
import { settleEach } from '@tandem/process-kit'
import { grantBadge } from '../badges/actions.ts'
import type { Deps } from '../deps.ts'
import {
  AlreadyDecided,
  AlreadyVerified,
  MainPhotoNotUploaded,
  VerificationNotFound,
  VerificationPending,
  hasRolledBack
} from '../errors.ts'
import { auditDecision, publishRead, type Operator } from '../operators.ts'
import { lockedProfileColumns, lockProfile } from '../people/queries.ts'
import { endApproval, revokeUnlessMainPhotoCompared } from '../photos/approval.ts'
import type { Db, RejectionCode } from '../tables.ts'
import { findSelfieKey, readVerification } from './queries.ts'
import { createSelfieKey } from './selfie-keys.ts'

/**
 * Submits a selfie. Its key is stored before the file, so that a crash never leaves an untracked file.
 * @throws VerificationPending, AlreadyVerified, MainPhotoNotUploaded
 */
export async function submitSelfie ({ db, selfies }: Deps, accountId: string, image: Image) {
  const key = createSelfieKey(accountId)
  await db.insertInto('selfies').values({ key }).execute()
  try {
    await selfies.put(key, image.bytes, image.mimeType)
    return await db.transaction().execute(async (trx) => {
      const profile = await lockProfile(trx, accountId)
      const { status } = await readVerification(trx, accountId)
      if (status === 'PENDING') throw new VerificationPending()
      if (status === 'APPROVED') throw new AlreadyVerified()
      const compared = await trx.selectFrom('photos').where('profile_id', '=', profile.id)
        // Another server can change the image behind its URL at any time, so a selfie covers uploaded photos only.
        .where('uploaded', '=', true)
        .select(['id as photo_id', 'is_main'])
        .execute()
      if (!compared.some((photo) => photo.is_main)) throw new MainPhotoNotUploaded()
      const { id } = await trx.insertInto('verifications').values({
        account_id: accountId,
        profile_id: profile.id,
        selfie_key: key
      })
        .returning('id').executeTakeFirstOrThrow()
      await trx.insertInto('verification_photos')
        .values(compared.map((photo) => ({ verification_id: id, ...photo })))
        .execute()
      return await readVerification(trx, accountId)
    })
  } catch (error) {
    if (hasRolledBack(error)) await eraseSelfie(db, selfies, key).catch(() => {})
    throw error
  }
}

/** Cancels the pending verification, or the approval. @throws VerificationNotFound if there is neither */
export async function cancelVerification ({ db, selfies }: Deps, accountId: string) {
  const canceled = await db.transaction().execute(async (trx) => {
    const profile = await trx.selectFrom('profiles').where('account_id', '=', accountId).select(lockedProfileColumns)
      .forUpdate()
      .executeTakeFirst()
    if (!profile) throw new VerificationNotFound()
    if (profile.photo_verified) await endApproval(trx, profile)
    return await trx.updateTable('verifications').set({ status: 'CANCELED', decided_at: sql`now()` })
      .where('profile_id', '=', profile.id).where('status', 'in', ['PENDING', 'APPROVED'])
      .where('revoked_at', 'is', null)
      .returning('selfie_key')
      .execute()
  })
  if (canceled.length === 0) throw new VerificationNotFound()
  // If this fails, housekeeping erases the selfie.
  for (const { selfie_key: key } of canceled) if (key) await eraseSelfie(db, selfies, key).catch(() => {})
}

/** Reads a selfie. The read is logged first. @throws VerificationNotFound */
export async function readSelfie ({ db, selfies }: Deps, operator: Operator, verificationId: string) {
  const key = await findSelfieKey(db, verificationId)
  if (key === undefined) throw new VerificationNotFound()
  await publishRead(db, operator, 'SELFIE_READ', verificationId)
  const selfie = await selfies.find(key)
  if (!selfie) throw new VerificationNotFound()
  return selfie
}

interface Decision {
  operator: Operator
  /** Their account in the app, if it is known: nobody decides about themselves. */
  ownAccountId: string | null
  verificationId: string
  /** Null: it is approved. */
  rejection: { reason: string, reasonCode: RejectionCode } | null
}

/**
 * Decides a verification, once. The decision covers only the photos it was submitted with.
 * @throws VerificationNotFound, AlreadyDecided, Forbidden
 */
export async function decideVerification (db: Db, { operator, ownAccountId, verificationId, rejection }: Decision) {
  const [approved, reason] = [rejection === null, rejection?.reason ?? null]
  const isDecided = await db.transaction().execute(async (trx) => {
    const verification = await trx.selectFrom('verifications').where('id', '=', verificationId)
      .select(['account_id as accountId', 'profile_id as profileId']).executeTakeFirst()
    if (!verification) throw new VerificationNotFound()
    const { accountId, profileId } = verification
    if (accountId === ownAccountId) throw new Forbidden()
    // Locks the profile before the verification, in the same order as changes of photos do. The photos cannot change
    // until the decision commits.
    const profile = await trx.selectFrom('profiles').where('id', '=', profileId).select(lockedProfileColumns)
      .forUpdate()
      .executeTakeFirst()
    if (approved && profile) await revokeUnlessMainPhotoCompared(trx, profile)
    const decided = await trx.updateTable('verifications')
      .set({
        status: approved ? 'APPROVED' : 'REJECTED',
        reason,
        reason_code: rejection?.reasonCode ?? null,
        decided_at: sql`now()`
      })
      .where('id', '=', verificationId).where('status', '=', 'PENDING')
      .returning('id')
      .executeTakeFirst()
    if (!decided) return false

    if (approved) {
      await trx.updateTable('profiles').set({ photo_verified: true }).where('id', '=', profileId).execute()
      await trx.updateTable('photos').where('profile_id', '=', profileId)
        .set({
          is_verified: sql<boolean>`exists (
            select from verification_photos where verification_id = ${verificationId} and photo_id = photos.id)`
        })
        .execute()
      await grantBadge(trx, accountId, 'PHOTO_VERIFIED')
    }
    await auditDecision(trx, operator, {
      action: approved ? 'VERIFICATION_APPROVE' : 'VERIFICATION_REJECT',
      subjectId: verificationId,
      accountId,
      note: reason
    })
    await publish(trx, VerificationDecided, accountId, { accountId, approved, reason })
    return true
  })
  if (!isDecided) throw new AlreadyDecided()
}

async function eraseSelfie (db: Db, selfies: Storage, key: string) {
  await selfies.remove(key)
  await db.deleteFrom('selfies').where('key', '=', key).execute()
}

/**
 * Erases selfies 30 days after the decision, those of canceled verifications at once, and those that a crash left
 * behind.
 */
export async function eraseOldSelfies (db: Db, selfies: Storage) {
  const { rows } = await sql<{ key: string }>`
    select key from selfies left join verifications on selfie_key = key
    where case when verifications.id is null then selfies.created_at < now() - interval '1 hour'
      else status = 'CANCELED' or decided_at < now() - interval '30 days' end
    limit 1000`.execute(db)
  await settleEach(rows, async ({ key }) => await eraseSelfie(db, selfies, key))
}
