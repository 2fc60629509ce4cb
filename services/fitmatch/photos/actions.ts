import { sql } from 'kysely'
import { readLimits } from '@tandem/brand-kit'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Image, ImageDetails, StoredImage } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { PhotoNotFound, TooManyPhotos } from '../errors.ts'
import { lockProfile, type LockedProfile } from '../people/queries.ts'
import type { Db, Trx } from '../tables.ts'
import { restoreApproval, revokeUnlessMainPhotoCompared } from './approval.ts'
import { deleteUnused, insertWithFiles, keepFiles, markUnused, noteNewFile } from './files.ts'
import { listPhotos, photoColumns, readPhotos } from './queries.ts'

// All changes take the profile's lock, so photo_count and the main photo stay correct under concurrent requests.

const setCount = async (trx: Trx, profileId: string, count: number) =>
  await trx.updateTable('profiles').set({ photo_count: count, updated_at: sql`now()` }).where('id', '=', profileId)
    .execute()

/** Stores an image and adds it to the photos. */
export async function addPhoto (
  deps: Deps,
  accountId: string,
  image: Image,
  idempotencyKey?: IdempotencyKey
) {
  const { db, media } = deps
  const stored = await media.store('public', image, async ({ key }) => await noteNewFile(db, key))
  return await insertWithFiles(
    deps,
    [stored.key],
    async () => await withIdempotencyKey(db, idempotencyKey, async (trx) => await insertPhoto(trx, accountId, stored))
  )
}

/** The first photo of a profile becomes the main one. */
async function insertPhoto (trx: Trx, accountId: string, { key, width, height, blurhash }: StoredImage) {
  const profile = await lockProfile(trx, accountId)
  const { id: profileId } = profile
  const photos = await listPhotos(trx, profileId)
  const { profilePhotos: max } = readLimits()
  if (photos.length >= max) throw new TooManyPhotos({ max })
  await setCount(trx, profileId, photos.length + 1)
  const photo = await trx.insertInto('photos')
    .values({
      profile_id: profileId,
      url: key,
      width,
      height,
      blurhash,
      uploaded: true,
      is_main: photos.length === 0,
      sort_order: (photos.at(-1)?.sortOrder ?? -1) + 1
    })
    .returning(photoColumns)
    .executeTakeFirstOrThrow()
  await keepFiles(trx, [key])
  if (photo.isMain) await revokeUnlessMainPhotoCompared(trx, profile)
  return photo
}

interface PhotoOrder {
  photoIds?: string[]
  mainPhotoId?: string
}

/** Reorders the photos (`photoIds` names each of them once), or makes another one the main photo. */
export async function arrangePhotos (db: Db, accountId: string, { photoIds, mainPhotoId }: PhotoOrder) {
  return await db.transaction().execute(async (trx) => {
    const profile = await lockProfile(trx, accountId)
    const { id: profileId } = profile
    const photos = await listPhotos(trx, profileId)
    if (mainPhotoId !== undefined) {
      if (!photos.some(({ id }) => id === mainPhotoId)) throw new PhotoNotFound()
      await makeMain(trx, profile, mainPhotoId)
    }
    if (photoIds !== undefined) {
      const { numAffectedRows } = await sql`
        update photos set sort_order = number - 1
        from unnest(${photoIds}::uuid[]) with ordinality as wanted (wanted_id, number)
        where id = wanted_id and profile_id = ${profileId}`.execute(trx)
      if (photoIds.length !== photos.length || numAffectedRows !== BigInt(photos.length)) {
        throw new ValidationError('photoIdsMustContainEachOfYourPhotosOnce', ['photoIds'])
      }
    }
    return await readPhotos(trx, accountId)
  })
}

async function makeMain (trx: Trx, profile: LockedProfile, photoId: string) {
  await trx.updateTable('photos').set({ is_main: false }).where('profile_id', '=', profile.id)
    .where('is_main', '=', true).execute()
  await trx.updateTable('photos').set({ is_main: true }).where('profile_id', '=', profile.id).where('id', '=', photoId)
    .execute()
  await revokeUnlessMainPhotoCompared(trx, profile)
}

/** Deletes a photo. If it was the main one, the next in order becomes the main one. */
export async function deletePhoto (deps: Deps, accountId: string, photoId: string) {
  const key = await deps.db.transaction().execute(async (trx) => {
    const profile = await lockProfile(trx, accountId)
    const { id: profileId } = profile
    const deleted = await trx.deleteFrom('photos').where('id', '=', photoId).where('profile_id', '=', profileId)
      .returning(['url', 'uploaded', 'is_main'])
      .executeTakeFirst()
    if (!deleted) throw new PhotoNotFound()
    const remaining = await listPhotos(trx, profileId)
    if (deleted.is_main && remaining[0]) await makeMain(trx, profile, remaining[0].id)
    else if (!remaining[0]) await revokeUnlessMainPhotoCompared(trx, profile)
    await setCount(trx, profileId, remaining.length)
    await markUnused(trx, deleted.uploaded ? [deleted.url] : [])
    return deleted.url
  })
  await deleteUnused(deps, [key]).catch(() => {})
}

interface RemovedPhoto extends ImageDetails {
  id: string
  url: string
  uploaded: boolean
  is_main: boolean
  is_verified: boolean
  sort_order: number
  removed_at: Date
}

/**
 * Puts a photo back that operators had removed, whose file is noted, unless the profile is full. Call it under the
 * profile's lock.
 */
export async function putBackPhoto (
  trx: Trx,
  profile: LockedProfile,
  { is_main: isMain, removed_at: removedAt, ...photo }: RemovedPhoto
) {
  const others = await listPhotos(trx, profile.id)
  if (others.length >= readLimits().profilePhotos) return
  await trx.insertInto('photos').values({ ...photo, profile_id: profile.id, is_main: others.length === 0 }).execute()
  await keepFiles(trx, [photo.url])
  await setCount(trx, profile.id, others.length + 1)
  if (isMain && others.length > 0) await makeMain(trx, profile, photo.id)
  if (isMain && photo.is_verified && !profile.photo_verified) await restoreApproval(trx, profile, removedAt)
}
