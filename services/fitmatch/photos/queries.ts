import type { Db, Trx } from '../schema.ts'

export async function listPhotos (db: Db | Trx, profileId: string) {
  return await db.selectFrom('photos').where('profile_id', '=', profileId)
    .select(['id', 'url', 'is_main as isMain', 'sort_order as sortOrder'])
    .orderBy('sort_order')
    .execute()
}
