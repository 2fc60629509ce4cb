import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { paginate, type Page } from '@tandem/http-kit'
import { MAIN_PHOTO_CHANGED } from '../photos/approval.ts'
import type { Db, VerificationStatus } from '../tables.ts'

/** The verification status of an account's current profile. */
export async function readVerification (db: Db, accountId: string) {
  const latest = await db.selectFrom('verifications').innerJoin('profiles', 'profiles.id', 'profile_id')
    .where('verifications.account_id', '=', accountId)
    // A verification that its owner withdrew is not shown. One that was canceled by a change of photos is, with the
    // reason.
    .where((eb) => eb.or([eb('verifications.status', '<>', 'CANCELED'), eb('reason', 'is not', null)]))
    .select([
      'verifications.status',
      'reason',
      'reason_code as reasonCode',
      'submitted_at as submittedAt',
      'decided_at as decidedAt',
      'revoked_at as revokedAt'
    ])
    .orderBy('verifications.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!latest) return { status: 'NONE' as const, reason: null, reasonCode: null, submittedAt: null, decidedAt: null }
  const { revokedAt, status, ...verification } = latest
  if (status === 'CANCELED' || revokedAt !== null) {
    return {
      ...verification,
      status: 'NONE' as const,
      reason: MAIN_PHOTO_CHANGED,
      reasonCode: 'MAIN_PHOTO_CHANGED' as const
    }
  }
  return { ...verification, status }
}

/** Verifications for operators, oldest first, each with those of the photos it was submitted with that still exist. */
export async function listVerifications (db: Db, { status, limit, cursor }: Page & { status: VerificationStatus }) {
  const rows = await db.selectFrom('verifications').leftJoin('profiles', 'profiles.id', 'profile_id')
    .where('verifications.status', '=', status)
    .$if(cursor !== undefined, (query) => query.where('verifications.id', '>', cursor ?? ''))
    .select((eb) => [
      'verifications.id',
      'verifications.account_id as accountId',
      'profile_id as profileId',
      'display_name as displayName',
      'verifications.status',
      'reason',
      'reason_code as reasonCode',
      'submitted_at as submittedAt',
      'decided_at as decidedAt',
      'selfie_key as selfieKey',
      jsonArrayFrom(
        eb.selectFrom('verification_photos').innerJoin('photos', 'photos.id', 'photo_id')
          .whereRef('verification_id', '=', 'verifications.id').orderBy('sort_order')
          .select(['url', 'width', 'height', 'blurhash', 'verification_photos.is_main as isMain'])
      ).as('photos')
    ])
    .orderBy('verifications.id')
    .limit(limit + 1)
    .execute()
  const { page, nextCursor } = paginate(rows, limit, ({ id }) => id)
  return { verifications: page.map(({ selfieKey, ...row }) => ({ ...row, hasSelfie: selfieKey !== null })), nextCursor }
}

export async function findSelfieKey (db: Db, verificationId: string) {
  const row = await db.selectFrom('verifications').where('id', '=', verificationId).select('selfie_key')
    .executeTakeFirst()
  return row?.selfie_key ?? undefined
}

/** The stored value of a photo of a verification. @param number its place in the list of the verification, from 1 */
export async function findVerificationPhoto (db: Db, verificationId: string, number: number) {
  const photo = await db.selectFrom('verification_photos').innerJoin('photos', 'photos.id', 'photo_id')
    .where('verification_id', '=', verificationId).orderBy('sort_order').select('url')
    .offset(number - 1).limit(1).executeTakeFirst()
  return photo?.url
}
