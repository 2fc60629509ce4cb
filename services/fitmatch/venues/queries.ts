import type { Db } from '../tables.ts'

export const venueColumns = [
  'id',
  'chain_id as chainId',
  'name',
  'branch',
  'city',
  'latitude',
  'longitude',
  'place_id as placeId',
  'is_custom as isCustom',
  'sort_order as sortOrder'
] as const

export async function listVenues (db: Db, profileId: string) {
  return await db.selectFrom('venues').where('profile_id', '=', profileId).select(venueColumns).orderBy('sort_order')
    .execute()
}
