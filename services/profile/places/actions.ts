import { ValidationError } from '@tandem/service-kit'
import type { Trx } from '../tables.ts'
import { findCity, findCountry, findRegion, readEdition } from './queries.ts'

const FALLBACK_ZONE = 'Asia/Jakarta'

/** Where somebody lives; null where he has not said. */
export interface Place { countryId: number | null, regionId: number | null, cityId: number | null }

/**
 * Settles where somebody lives after he said `said`: a city brings its region and country, a region its country; what was said
 * earlier and does not lie in what is said now is forgotten.
 * @throws ValidationError when ids are unknown or do not belong together, PlacesLoading before any are known
 */
export async function resolvePlace (trx: Trx, before: Place, publishedEvents: Partial<Place>): Promise<Place & { timezone: string }> {
  await readEdition(trx)
  const city = publishedEvents.cityId == null ? undefined : await findCity(trx, publishedEvents.cityId)
  if (publishedEvents.cityId != null && !city) throw new ValidationError('cityId is not a city we know')
  const regionId = publishedEvents.regionId ?? city?.regionId ?? null
  const region = regionId === null ? undefined : await findRegion(trx, regionId)
  if (regionId !== null && !region) throw new ValidationError('regionId is not a region we know')
  const countryId = publishedEvents.countryId ?? city?.countryId ?? region?.countryId ?? before.countryId
  const country = countryId === null ? undefined : await findCountry(trx, { id: countryId })
  if (countryId !== null && !country) throw new ValidationError('countryId is not a country we know')

  if (region && region.countryId !== countryId) throw new ValidationError('regionId is not a region of this country')
  if (city && (city.countryId !== countryId || (publishedEvents.regionId != null && city.regionId !== publishedEvents.regionId))) {
    throw new ValidationError('cityId is not a city of this region and country')
  }

  const moved = countryId !== before.countryId
  const settledRegion = region?.id ?? (moved ? null : before.regionId)
  const stays = !city && !moved && settledRegion === before.regionId
  const settledCity = city ?? (stays && before.cityId !== null ? await findCity(trx, before.cityId) : undefined)
  return {
    countryId,
    regionId: settledRegion,
    cityId: settledCity?.id ?? null,
    timezone: settledCity?.timezone ?? country?.timezone ?? FALLBACK_ZONE
  }
}
