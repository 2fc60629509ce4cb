import { DEFAULT_TIMEZONE } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'
import type { Trx } from '../tables.ts'
import { findCity, findCountry, findRegion, readEdition } from './queries.ts'

/** Where a person lives; unknown ids are null. */
export interface Place {
  countryId: number | null
  regionId: number | null
  cityId: number | null
}

/**
 * Resolves where a person lives after a request. A city implies its region and country, a region its country. Earlier
 * values outside of the requested place are cleared.
 * @throws ValidationError if ids are unknown or do not belong together, PlacesLoading before the first edition is
 * loaded
 */
export async function resolvePlace (
  trx: Trx,
  before: Place,
  requested: Partial<Place>
): Promise<Place & { timezone: string }> {
  await readEdition(trx)
  const city = requested.cityId == null ? undefined : await findCity(trx, requested.cityId)
  if (requested.cityId != null && !city) {
    throw new ValidationError('cityIdIsNotKnownCity', ['cityId'])
  }
  const regionId = requested.regionId ?? city?.regionId ?? null
  const region = regionId === null ? undefined : await findRegion(trx, regionId)
  if (regionId !== null && !region) {
    throw new ValidationError('regionIdIsNotKnownRegion', ['regionId'])
  }
  const countryId = requested.countryId ?? city?.countryId ?? region?.countryId ?? before.countryId
  const country = countryId === null ? undefined : await findCountry(trx, { id: countryId })
  if (countryId !== null && !country) {
    throw new ValidationError('countryIdIsNotKnownCountry', ['countryId'])
  }

  if (region && region.countryId !== countryId) {
    throw new ValidationError('regionIdIsNotRegionOfThisCountry', ['regionId'])
  }
  if (city && (city.countryId !== countryId || (requested.regionId != null && city.regionId !== requested.regionId))) {
    throw new ValidationError('cityIdIsNotCityOfThisRegionAnd', ['cityId'])
  }

  const countryChanged = countryId !== before.countryId
  // A city can be in no region, also in a country that has some.
  const newRegionId = region?.id ?? (city || countryChanged ? null : before.regionId)
  const keepsCity = !city && !countryChanged && newRegionId === before.regionId
  const newCity = city ?? (keepsCity && before.cityId !== null ? await findCity(trx, before.cityId) : undefined)
  return {
    countryId,
    regionId: newRegionId,
    cityId: newCity?.id ?? null,
    timezone: newCity?.timezone ?? country?.timezone ?? DEFAULT_TIMEZONE
  }
}
