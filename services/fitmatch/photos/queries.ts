import { sql } from 'kysely'
import { readCaller } from '../people/queries.ts'
import type { Db } from '../tables.ts'

/** The columns of a photo as other people see it, for `describePhoto`. */
export const candidatePhotoColumns = ['url', 'width', 'height', 'blurhash', 'photos.is_main as isMain'] as const

/** The columns of a photo as its owner sees it. */
export const photoColumns = [...candidatePhotoColumns, 'photos.id', 'sort_order as sortOrder'] as const

/** The file of the main photo of the profile that a column names; null if it has none. */
export const mainPhotoOf = (profileId: string) =>
  sql<string | null>`(select url from photos where profile_id = ${sql.ref(profileId)} and is_main)`

export async function listPhotos (db: Db, profileId: string) {
  return await db.selectFrom('photos').where('profile_id', '=', profileId)
    .select(photoColumns)
    .orderBy('sort_order')
    .execute()
}

/** An account's photos, and whether the profile is verified. @throws ProfileMissing */
export async function readPhotos (db: Db, accountId: string) {
  const { id, isPhotoVerified } = await readCaller(db, accountId)
  return { photos: await listPhotos(db, id), isPhotoVerified }
}
