import { readLocale } from '@tandem/brand-kit'
import { sql } from 'kysely'
import { findOwnNameError, parseTimezone, validateName } from '@tandem/account-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { changePerson, ensurePerson, weightColumns } from '../people/actions.ts'
import { attachPhotos } from '../photos/actions.ts'
import { parseBirthDate } from '../people/checks.ts'
import { permissionColumns, preferenceColumns, type Permissions, type Preferences } from '../people/preferences.ts'
import { resolvePlace } from '../places/actions.ts'
import { placeNumber } from '../places/schemas.ts'
import type { Gender } from '../tables.ts'

interface ProfileStep {
  communityRulesAccepted?: boolean
  name?: string
  gender?: Gender
  birthDate?: string
  height?: number
  heightUnit?: 'cm' | 'feet'
  weight?: number
  weightUnit?: 'kg' | 'pound'
  photos?: string[]
  bio?: string
  countryId?: string
  regionId?: string
  cityId?: string
  locale?: string
  timezone?: string
  subStep?: number
  completed?: boolean
}

/** Saves the fields of the first step; omitted fields stay the same. @throws ValidationError */
export async function saveProfile (deps: Deps, accountId: string, step: ProfileStep) {
  const { countryId, regionId, cityId, completed } = step
  const photos = step.photos && [...new Set(step.photos.map((url) => deps.media.toStoredValue(url)))]
  const timezone = step.timezone && parseTimezone(step.timezone)
  const locale = step.locale && readLocale(step.locale)

  await ensurePerson(deps, accountId)
  await changePerson(deps, accountId, async (trx, person) => {
    validateName('name', step.name, person.name, findOwnNameError)
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
      ...(step.communityRulesAccepted !== undefined && { community_rules_accepted: step.communityRulesAccepted }),
      ...(step.name !== undefined && { name: step.name }),
      ...(step.gender && { gender: step.gender }),
      ...(step.birthDate && { birth_date: parseBirthDate(step.birthDate, timezone ?? person.timezone) }),
      ...(step.height !== undefined && { height: step.height }),
      ...(step.heightUnit && { height_unit: step.heightUnit }),
      ...(step.weight !== undefined && weightColumns(person, step.weight)),
      ...(step.weightUnit && { weight_unit: step.weightUnit }),
      ...(photos && { photos, image: photos[0] ?? null }),
      ...(step.bio !== undefined && { bio: step.bio || null }),
      ...(place && { country_id: place.countryId, region_id: place.regionId, city_id: place.cityId }),
      ...(place && !person.timezone_chosen && { timezone: place.timezone }),
      ...(locale && { locale }),
      ...(timezone && { timezone, timezone_chosen: true }),
      ...progress(person.current_step, { subStep: step.subStep, reached: completed ? 1 : 0 })
    }
  })
}

interface PreferencesStep extends Preferences {
  subStep?: number
  completed?: boolean
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
