import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { ProfileMissing } from '../errors.ts'
import { ageNow } from '../people/queries.ts'
import { photoColumns } from '../photos/queries.ts'
import { toDegrees } from '../position.ts'
import type { Db } from '../tables.ts'
import { venueColumns } from '../venues/queries.ts'
import { scoreProfile } from './profile-score.ts'

export async function findOwnProfile (db: Db, accountId: string) {
  const row = await db.selectFrom('profiles').innerJoin('members', 'members.account_id', 'profiles.account_id')
    .where('profiles.account_id', '=', accountId)
    .select((eb) => [
      'profiles.id',
      'display_name as displayName',
      'bio',
      'city',
      'district',
      sql<string | null>`profiles.birth_date::text`.as('birthDate'),
      'gender',
      'height',
      ageNow.as('age'),
      'max_distance as maxDistance',
      'age_min as ageMin',
      'age_max as ageMax',
      'latitude',
      'longitude',
      'status',
      'tutorial_seen as discoverTutorialSeen',
      'looking_for as lookingFor',
      'interested_in as interestedIn',
      'fitness_goals as fitnessGoals',
      'preferred_times as preferredTimes',
      'workout_days as workoutDays',
      'favorite_sports as sports',
      'prompts',
      jsonArrayFrom(
        eb.selectFrom('photos').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order').select(photoColumns)
      ).as('photos'),
      jsonArrayFrom(
        eb.selectFrom('venues').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order').select(venueColumns)
      ).as('venues')
    ])
    .executeTakeFirst()
  if (!row) return
  return {
    ...row,
    latitude: toDegrees(row.latitude),
    longitude: toDegrees(row.longitude),
    profileScore: scoreProfile(row)
  }
}

/** @throws ProfileMissing */
export async function readOwnProfile (db: Db, accountId: string) {
  const profile = await findOwnProfile(db, accountId)
  if (!profile) throw new ProfileMissing()
  return profile
}
