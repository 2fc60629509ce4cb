import { sql } from 'kysely'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import { TooManyVenues, VenueNotFound } from '../errors.ts'
import { lockProfile } from '../people/queries.ts'
import { checkPosition } from '../position.ts'
import type { Db, Trx } from '../tables.ts'
import { listVenues, venueColumns } from './queries.ts'

export const MAX_VENUES = 5

interface NewVenue {
  chainId?: string
  name: string
  branch?: string
  city?: string
  latitude?: number
  longitude?: number
  placeId?: string
  isCustom?: boolean
}
interface VenueChanges {
  id: string
  name?: string
  branch?: string
  latitude?: number
  longitude?: number
}

// All changes take the profile's lock, so the limit holds under concurrent requests.

const setCount = async (trx: Trx, profileId: string, count: number) =>
  await trx.updateTable('profiles').set({ venue_count: count, updated_at: sql`now()` }).where('id', '=', profileId)
    .execute()

export async function addVenue (
  db: Db,
  accountId: string,
  { chainId, name, branch, city, latitude, longitude, placeId, isCustom }: NewVenue,
  idempotencyKey?: IdempotencyKey
) {
  checkPosition({ latitude, longitude })
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const venues = await listVenues(trx, profileId)
    if (venues.length >= MAX_VENUES) throw new TooManyVenues()
    await setCount(trx, profileId, venues.length + 1)
    return await trx.insertInto('venues')
      .values({
        profile_id: profileId,
        chain_id: chainId || null,
        name,
        branch: branch || null,
        city: city || null,
        latitude: latitude ?? null,
        longitude: longitude ?? null,
        place_id: placeId || null,
        is_custom: isCustom ?? false,
        sort_order: (venues.at(-1)?.sortOrder ?? -1) + 1
      })
      .returning(venueColumns)
      .executeTakeFirstOrThrow()
  })
}

/** Reorders the venues. `venueIds` contains each of them once. */
export async function reorderVenues (db: Db, accountId: string, venueIds: string[]) {
  return await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const venues = await listVenues(trx, profileId)
    const isComplete = venueIds.length === venues.length && new Set(venueIds).size === venueIds.length &&
      venues.every(({ id }) => venueIds.includes(id))
    if (!isComplete) {
      throw new ValidationError({
        en: 'venueIds must contain each of your venues once',
        id: 'venueIds harus berisi setiap tempat Anda satu kali'
      })
    }
    for (const [index, id] of venueIds.entries()) {
      await trx.updateTable('venues').set({ sort_order: index }).where('id', '=', id).where(
        'profile_id',
        '=',
        profileId
      ).execute()
    }
    return await listVenues(trx, profileId)
  })
}

export async function updateVenue (db: Db, accountId: string, { id, name, branch, latitude, longitude }: VenueChanges) {
  return await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const changed = await trx.updateTable('venues')
      .set({
        ...(name !== undefined && { name }),
        ...(branch !== undefined && { branch: branch || null }),
        ...(latitude !== undefined && { latitude }),
        ...(longitude !== undefined && { longitude }),
        profile_id: profileId
      })
      .where('id', '=', id).where('profile_id', '=', profileId)
      .returning(['latitude', 'longitude'])
      .executeTakeFirst()
    if (!changed) throw new VenueNotFound()
    if (latitude !== undefined || longitude !== undefined) checkPosition(changed)
    return await listVenues(trx, profileId)
  })
}

export async function deleteVenue (db: Db, accountId: string, venueId: string) {
  await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const deleted = await trx.deleteFrom('venues').where('id', '=', venueId).where('profile_id', '=', profileId)
      .returning('id').executeTakeFirst()
    if (!deleted) throw new VenueNotFound()
    await setCount(trx, profileId, (await listVenues(trx, profileId)).length)
  })
}
