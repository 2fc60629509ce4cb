import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { VerificationDecided } from '@tandem/contracts'
import type { Image, Storage } from '@tandem/media-kit'
import { earn, takeBack } from '../badges/actions.ts'
import type { Deps } from '../deps.ts'
import { AlreadyDecided, AlreadyVerified, VerificationNotFound, VerificationPending } from '../errors.ts'
import { lockProfile, type Profile } from '../profiles/queries.ts'
import type { Db, Trx } from '../schema.ts'
import { readVerification } from './queries.ts'

/** Hands in a selfie. Its key is written down before the file, so that no file is ever left that nobody knows of. */
export async function submitSelfie ({ db, selfies }: Deps, accountId: string, image: Image) {
  const key = `selfies/${accountId}/${randomUUID()}.webp`
  await db.insertInto('selfies').values({ key }).execute()
  try {
    await selfies.put(key, image.bytes, image.mimeType)
    return await db.transaction().execute(async (trx) => {
      const profile = await lockProfile(trx, accountId)
      const { status } = await readVerification(trx, accountId)
      if (status === 'PENDING') throw new VerificationPending()
      if (status === 'APPROVED') throw new AlreadyVerified()
      await trx.insertInto('verifications').values({ account_id: accountId, profile_id: profile.id, selfie_key: key }).execute()
      return await readVerification(trx, accountId)
    })
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error) await eraseSelfie(db, selfies, key).catch(() => {})
    throw error
  }
}

/** @throws VerificationNotFound when nothing is pending */
export async function cancelVerification ({ db, selfies }: Deps, accountId: string) {
  const canceled = await db.updateTable('verifications').set({ status: 'CANCELED', decided_at: sql`now()` })
    .where('account_id', '=', accountId).where('status', '=', 'PENDING')
    .returning('selfie_key')
    .executeTakeFirst()
  if (!canceled) throw new VerificationNotFound()
  // What fails here is done by housekeeping.
  if (canceled.selfie_key) await eraseSelfie(db, selfies, canceled.selfie_key).catch(() => {})
}

interface Decision { adminId: string, verificationId: string, approved: boolean, reason: string | null }

/** Decides on a selfie, once. @throws VerificationNotFound, AlreadyDecided */
export async function decide (db: Db, { adminId, verificationId, approved, reason }: Decision) {
  await db.transaction().execute(async (trx) => {
    const decided = await trx.updateTable('verifications')
      .set({ status: approved ? 'APPROVED' : 'REJECTED', reason, decided_at: sql`now()` })
      .where('id', '=', verificationId).where('status', '=', 'PENDING')
      .returning(['account_id as accountId', 'profile_id as profileId'])
      .executeTakeFirst()
    if (!decided) {
      const known = await trx.selectFrom('verifications').where('id', '=', verificationId).select('id').executeTakeFirst()
      throw known ? new AlreadyDecided() : new VerificationNotFound()
    }
    const { accountId, profileId } = decided
    if (approved) {
      await trx.updateTable('profiles').set({ photo_verified: true }).where('id', '=', profileId).execute()
      await trx.updateTable('photos').set({ is_verified: true }).where('profile_id', '=', profileId).execute()
      await earn(trx, accountId, 'PHOTO_VERIFIED')
    }
    await trx.insertInto('audit')
      .values({ admin_id: adminId, action: approved ? 'VERIFICATION_APPROVE' : 'VERIFICATION_REJECT', subject_id: verificationId, account_id: accountId, note: reason })
      .execute()
    await record(trx, VerificationDecided, accountId, { accountId, approved, reason })
  })
}

/** Ends what an approval was good for: the profile now shows itself under a photo that nobody has compared. Call it under the profile's lock. */
export async function lapse (trx: Trx, { id, account_id }: Profile) {
  await trx.updateTable('profiles').set({ photo_verified: false }).where('id', '=', id).execute()
  await trx.updateTable('verifications').set({ lapsed_at: sql`now()` })
    .where('account_id', '=', account_id).where('status', '=', 'APPROVED').where('lapsed_at', 'is', null)
    .execute()
  await takeBack(trx, account_id, 'PHOTO_VERIFIED')
}

async function eraseSelfie (db: Db, selfies: Storage, key: string) {
  await selfies.remove(key)
  await db.deleteFrom('selfies').where('key', '=', key).execute()
}

/** Erases selfies a month after the decision, at once where the request was withdrawn, and those that a crash left behind. */
export async function eraseOldSelfies (db: Db, selfies: Storage) {
  const { rows } = await sql<{ key: string }>`
    select key from selfies left join verifications on selfie_key = key
    where case when verifications.id is null then selfies.created_at < now() - interval '1 hour'
      else status = 'CANCELED' or decided_at < now() - interval '30 days' end
    limit 1000`.execute(db)
  for (const { key } of rows) await eraseSelfie(db, selfies, key)
}
