import { sql } from 'kysely'
import type Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import type { MatchFacts } from '@tandem/contracts'
import { isMediaKey } from '@tandem/media-url-kit'
import { createMediaKey } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { upsertMemberFacts, upsertTimezone } from '../people/actions.ts'
import { noteNewFile } from '../photos/files.ts'
import type { StoredPhoto } from '../photos/describe.ts'
import { roundToGrid } from '../position.ts'
import { genders, type Trx } from '../tables.ts'
import { toColumns, toTimes } from './fields.ts'
import type { ProfileFields } from './schemas.ts'

/** What the profile service returns of a main profile. */
export type MainProfile = NonNullable<Type.Static<typeof MatchFacts.response>>

// For a response without changedAt: changes of the last moments before the call may or may not be in it.
const UNCERTAINTY_MS = 5_000

const defaultPreferences = { looking_for: [...genders], age_max: 99, max_distance: 50 }

/** Columns filled from the main profile. */
function fromMainProfile (
  { name, birthDate, gender, bio, height, city, latitude, longitude, preferredAvailability, preferredWorkoutTime = [] }:
    MainProfile
) {
  const hasPosition = latitude !== null && longitude !== null
  return {
    display_name: name,
    has_custom_name: false,
    birth_date: birthDate,
    has_custom_birth_date: false,
    gender,
    bio,
    height: height === null ? null : Math.round(height),
    city,
    district: null,
    latitude: hasPosition ? roundToGrid(latitude) : null,
    longitude: hasPosition ? roundToGrid(longitude) : null,
    interested_in: [],
    fitness_goals: [],
    preferred_times: toTimes(preferredWorkoutTime.length > 0 ? preferredWorkoutTime : preferredAvailability),
    workout_days: [],
    prompts: '[]'
  }
}

/** The columns of a new profile. Fields that the client omits are taken from the main profile. */
export const columnsOf = (facts: MainProfile, fields: ProfileFields, minAge: number) => ({
  ...defaultPreferences,
  age_min: Math.max(18, minAge),
  ...fromMainProfile(facts),
  ...toColumns(fields)
})

/** Stores the fetched facts, unless an event has already brought newer ones. */
export async function saveFetchedFacts (
  trx: Trx,
  accountId: string,
  { timezone, weight, favoriteSports, experience, birthDate, changedAt: reportedAt }: MainProfile,
  calledAt: Date
) {
  const changedAt = reportedAt ?? new Date(calledAt.getTime() - UNCERTAINTY_MS)
  await upsertTimezone(trx, { accountId, timezone, changedAt })
  await upsertMemberFacts(trx, { accountId, weight, favoriteSports, experience, birthDate, changedAt })
  return await trx.selectFrom('members').select([
    'timezone',
    'favorite_sports',
    'suspended_at',
    sql<string | null>`birth_date::text`.as('birth_date')
  ]).where(
    'account_id',
    '=',
    accountId
  ).executeTakeFirstOrThrow()
}

/**
 * Copies photos under new keys. With the key of the main profile's photo, anybody could find the person behind a
 * matching profile.
 */
export async function copyPhotos (
  { db, media }: Pick<Deps, 'db' | 'media'>,
  { photos, photoDetails }: Pick<MainProfile, 'photos' | 'photoDetails'>
): Promise<StoredPhoto[]> {
  const copies = await Promise.all(
    photos.slice(0, readLimits().profilePhotos).map(async (url, index) => {
      const details = photoDetails?.[index] ?? { width: null, height: null, blurhash: null }
      const stored = media.toStoredValue(url)
      if (isMediaKey(stored)) {
        const key = createMediaKey('public')
        await noteNewFile(db, key)
        return await media.copy(stored, key) ? { url: key, ...details } : undefined
      }
      return media.isAllowedUrl(url) ? { url: stored, ...details } : undefined
    })
  )
  return copies.filter((copy) => copy !== undefined)
}
