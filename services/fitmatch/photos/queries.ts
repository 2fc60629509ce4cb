import { readCaller } from '../people/queries.ts'
import type { Db } from '../tables.ts'

export async function listPhotos (db: Db, profileId: string) {
  return await db.selectFrom('photos').where('profile_id', '=', profileId)
    .select(['id', 'url', 'is_main as isMain', 'sort_order as sortOrder'])
    .orderBy('sort_order')
    .execute()
}

/** An account's photos, and whether the profile is verified. @throws ProfileMissing */
export async function readPhotos (db: Db, accountId: string) {
  const { id, isPhotoVerified } = await readCaller(db, accountId)
  return { photos: await listPhotos(db, id), isPhotoVerified }
}
