import { sql } from 'kysely'
import { readLimits } from '@tandem/brand-kit'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import { TooManyVenues, VenueNotFound } from '../errors.ts'
import { lockProfile } from '../people/queries.ts'
import { isChain } from '../places/chains.ts'
import { nameKeyOf } from '../places/names.ts'
import { findPlace } from '../places/queries.ts'
import { checkPosition } from '../position.ts'
import type { Db } from '../tables.ts'
import { listVenues, venueColumns } from './queries.ts'

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

/**
 * Adds a venue. Of a place of the library, the name, the city and the position are those of the library.
 * @throws ValidationError for a chain that is not in the list, ProfileMissing, TooManyVenues
 */
export async function addVenue (db: Db, accountId: string, venue: NewVenue, idempotencyKey?: IdempotencyKey) {
  checkPosition(venue)
  checkChain(venue)
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const venues = await listVenues(trx, profileId)
    const { fitmatchVenues: max } = readLimits()
    if (venues.length >= max) throw new TooManyVenues({ max })
    const { placeId, branch, isCustom = false } = venue
    const place = placeId ? await findPlace(trx, placeId) : undefined
    const { name, city, latitude, longitude, chainId } = place && !isCustom ? place : venue
    // An invented id of such a place would count as a person there.
    const isInvented = placeId?.startsWith('people:') && !place
    return await trx.insertInto('venues')
      .values({
        profile_id: profileId,
        chain_id: chainId || null,
        name,
        name_key: nameKeyOf(name),
        branch: branch || null,
        city: city || null,
        latitude: latitude ?? null,
        longitude: longitude ?? null,
        place_id: isInvented ? null : placeId || null,
        is_custom: isCustom,
        sort_order: (venues.at(-1)?.sortOrder ?? -1) + 1
      })
      .returning(venueColumns)
      .executeTakeFirstOrThrow()
  })
}

function checkChain ({ chainId }: NewVenue) {
  if (!chainId || isChain(chainId)) return
  throw new ValidationError('chainIdMustBeChainOfGETVenuesChains', ['chainId'])
}

/** Reorders the venues. `venueIds` contains each of them once. */
export async function reorderVenues (db: Db, accountId: string, venueIds: string[]) {
  return await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const venues = await listVenues(trx, profileId)
    const { numAffectedRows } = await sql`
      update venues set sort_order = number - 1
      from unnest(${venueIds}::uuid[]) with ordinality as wanted (wanted_id, number)
      where id = wanted_id and profile_id = ${profileId}`.execute(trx)
    if (venueIds.length !== venues.length || numAffectedRows !== BigInt(venues.length)) {
      throw new ValidationError('venueIdsMustContainEachOfYourVenuesOnce', ['venueIds'])
    }
    return await listVenues(trx, profileId)
  })
}

/** Changes a venue. With another name or position, a place of the library becomes the person's own text. */
export async function updateVenue (db: Db, accountId: string, { id, branch, ...changes }: VenueChanges) {
  return await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const venue = await trx.selectFrom('venues').where('id', '=', id).where('profile_id', '=', profileId)
      .select(['name', 'latitude', 'longitude', 'place_id', 'is_custom'])
      .executeTakeFirst()
    if (!venue) throw new VenueNotFound()
    const { name = venue.name, latitude = venue.latitude, longitude = venue.longitude } = changes
    checkPosition({ latitude, longitude })
    const isMoved = name !== venue.name || latitude !== venue.latitude || longitude !== venue.longitude
    const isOfLibrary = venue.place_id !== null && await findPlace(trx, venue.place_id) !== undefined
    await trx.updateTable('venues')
      .set({
        name,
        name_key: nameKeyOf(name),
        latitude,
        longitude,
        ...(branch !== undefined && { branch: branch || null }),
        ...(isMoved && { changed_at: sql`now()`, is_custom: venue.is_custom || isOfLibrary })
      })
      .where('id', '=', id)
      .execute()
    return await listVenues(trx, profileId)
  })
}

export async function deleteVenue (db: Db, accountId: string, venueId: string) {
  await db.transaction().execute(async (trx) => {
    const { id: profileId } = await lockProfile(trx, accountId)
    const deleted = await trx.deleteFrom('venues').where('id', '=', venueId).where('profile_id', '=', profileId)
      .returning('id').executeTakeFirst()
    if (!deleted) throw new VenueNotFound()
  })
}
