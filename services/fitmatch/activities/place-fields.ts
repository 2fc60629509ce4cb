import { isDeepStrictEqual } from 'node:util'
import { ValidationError } from '@tandem/http-kit'
import { VenueNotFound } from '../errors.ts'
import type { Caller } from '../people/queries.ts'
import { checkPosition, roundToGrid } from '../position.ts'
import type { ActivityVenue, Trx } from '../tables.ts'

export interface PlaceFields {
  venueId?: string
  locationName?: string
  latitude?: number
  longitude?: number
}

/**
 * The columns of a place that a host chose: one of their venues, whose fields are copied, or a name with or without a
 * position. Undefined if they chose none.
 * @throws ValidationError, VenueNotFound
 */
export async function resolvePlace (trx: Trx, me: Caller, { venueId, locationName, latitude, longitude }: PlaceFields) {
  if (venueId === undefined && locationName === undefined && latitude === undefined && longitude === undefined) return
  if (venueId !== undefined && locationName !== undefined) {
    throw new ValidationError('sendVenueIdOrLocationName')
  }
  checkPosition({ latitude, longitude })
  const venue = venueId === undefined
    ? customVenue(locationName, { latitude, longitude })
    : await readVenue(trx, me.id, venueId)
  return {
    location_name: venue.name,
    venue,
    city: venue.city ?? await readCity(trx, me.id),
    latitude: venue.latitude === null ? null : roundToGrid(venue.latitude),
    longitude: venue.longitude === null ? null : roundToGrid(venue.longitude)
  }
}

function customVenue (name: string | undefined, { latitude, longitude }: PlaceFields): ActivityVenue {
  if (name === undefined) {
    throw new ValidationError('latitudeAndLongitudeNeedLocationName')
  }
  return { name, branch: null, city: null, latitude: latitude ?? null, longitude: longitude ?? null }
}

async function readVenue (trx: Trx, profileId: string, venueId: string): Promise<ActivityVenue> {
  const venue = await trx.selectFrom('venues').where('id', '=', venueId).where('profile_id', '=', profileId)
    .select(['name', 'branch', 'city', 'latitude', 'longitude'])
    .executeTakeFirst()
  if (!venue) throw new VenueNotFound()
  return venue
}

async function readCity (trx: Trx, profileId: string) {
  const profile = await trx.selectFrom('profiles').where('id', '=', profileId).select('city').executeTakeFirst()
  return profile?.city ?? null
}

/** Whether a place differs from the stored one. */
export const changesPlace = (place: { venue: ActivityVenue }, stored: { venue: ActivityVenue | null }) =>
  !isDeepStrictEqual(place.venue, stored.venue)
