import { sql } from 'kysely'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { changePerson, ensurePerson } from '../people/actions.ts'
import { personColumnsOf } from '../people/fields.ts'
import { attachPhotos } from '../photos/actions.ts'
import { permissionColumns, preferenceColumns, type Permissions } from '../people/preferences.ts'
import { resolvePlace } from '../places/actions.ts'
import { placeNumber } from '../places/schemas.ts'
import type { PreferencesStep, ProfileStep } from './schemas.ts'

/** Saves the fields of the first step; omitted fields stay the same. @throws ValidationError */
export async function saveProfile (deps: Deps, accountId: string, step: ProfileStep) {
  const { countryId, regionId, cityId, completed } = step
  const photos = step.photos && [...new Set(step.photos.map((url) => deps.media.toStoredValue(url)))]

  await ensurePerson(deps, accountId)
  await changePerson(deps, accountId, async (trx, person) => {
    if (completed && (photos ?? person.photos).length === 1) {
      throw new ValidationError('photosMustContainAtLeast2Photos', ['photos'])
    }
    if (photos) await attachPhotos(deps.media, trx, accountId, { photos, before: person.photos })
    // In countries without regions, clients send an empty region id.
    const place = countryId || regionId || cityId
      ? await resolvePlace(trx, { countryId: person.country_id, regionId: person.region_id, cityId: person.city_id }, {
        ...(countryId && { countryId: placeNumber(countryId) }),
        ...(regionId && { regionId: placeNumber(regionId) }),
        ...(cityId && { cityId: placeNumber(cityId) })
      })
      : undefined
    return {
      ...(place && !person.timezone_chosen && { timezone: place.timezone }),
      ...personColumnsOf(person, step),
      ...(step.communityRulesAccepted !== undefined && { community_rules_accepted: step.communityRulesAccepted }),
      ...(photos && { photos, image: photos[0] ?? null }),
      ...(place && { country_id: place.countryId, region_id: place.regionId, city_id: place.cityId }),
      ...progress(person.current_step, { subStep: step.subStep, reached: completed ? 1 : 0 })
    }
  })
}

/** Saves the fields of the second step; omitted fields stay the same. @throws ValidationError */
export async function savePreferences (deps: Deps, accountId: string, step: PreferencesStep) {
  await ensurePerson(deps, accountId)
  await changePerson(deps, accountId, async (trx, person) => ({
    ...await preferenceColumns(trx, person, step),
    ...progress(person.current_step, { subStep: step.subStep, reached: step.completed ? 2 : 0 })
  }))
}

/** Saves the permissions and completes onboarding from any step. */
export async function savePermissions (deps: Deps, accountId: string, permissions: Permissions) {
  await ensurePerson(deps, accountId)
  await changePerson(deps, accountId, async (_, person) => ({
    ...permissionColumns(permissions),
    ...progress(person.current_step, { reached: 3 })
  }))
}

/** A step never decreases; the sub-step is stored as sent. */
function progress (current: number, { subStep, reached }: { subStep?: number | undefined, reached: number }) {
  return {
    ...(subStep !== undefined && { current_sub_step: subStep }),
    ...(reached > current && { current_step: reached }),
    ...(reached === 3 && current < 3 && { completed_at: sql<Date>`now()` })
  }
}
