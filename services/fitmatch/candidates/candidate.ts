import Type from 'typebox'
import { sql, type SelectQueryBuilder } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { named, Nullable } from '@tandem/http-kit'
import { ONLINE_WITHIN } from '../people/activity.ts'
import { ageNow } from '../people/queries.ts'
import { candidatePhotoColumns } from '../photos/queries.ts'
import { CandidatePhoto, exampleCandidatePhoto } from '../photos/schemas.ts'
import { Gender } from '../schemas.ts'
import { roundDegrees } from '../position.ts'
import type { Tables } from '../tables.ts'
import {
  distanceKmFrom,
  compatibilityScoreFor,
  sharedScoreWith,
  sharesGymWith,
  visibleKm,
  type CompatibilityInputs
} from './score.ts'

const CandidatePrompt = named('CandidatePrompt', Type.Object({ question: Type.String(), answer: Type.String() }))
const CandidateVenue = named(
  'CandidateVenue',
  Type.Object({
    name: Type.String(),
    branch: Nullable(Type.String()),
    city: Nullable(Type.String()),
    latitude: Nullable(Type.Number({ description: 'To a hundredth of a degree' })),
    longitude: Nullable(Type.Number())
  })
)
const SharedVenue = named(
  'SharedVenue',
  Type.Object({ name: Type.String(), branch: Nullable(Type.String()) })
)
const strings = Type.Array(Type.String())

export const candidateFields = {
  id: Type.String(),
  displayName: Type.String(),
  age: Nullable(Type.Integer()),
  gender: Nullable(Gender),
  bio: Nullable(Type.String()),
  city: Nullable(Type.String()),
  distance: Nullable(Type.Integer({ description: 'Whole kilometres, at least 1; null if hidden or unknown' })),
  compatibilityScore: Type.Integer({ description: '0 to 100' }),
  isPhotoVerified: Type.Boolean(),
  isOnline: Type.Boolean(),
  fitnessLevel: Type.String(),
  fitnessGoals: strings,
  preferredTimes: strings,
  workoutDays: strings,
  height: Nullable(Type.Integer()),
  weight: Nullable(Type.Number()),
  favoriteSports: strings,
  photos: Type.Array(CandidatePhoto),
  prompts: Type.Array(CandidatePrompt),
  venues: Type.Array(CandidateVenue),
  sameGym: Type.Boolean({ description: 'Whether we share a gym: a place, or a branch of a chain' }),
  sharedVenues: Type.Array(SharedVenue)
}

export const exampleCandidate = {
  id: '019aa1f0-0000-7000-8000-000000000004',
  displayName: 'Ben',
  age: 31,
  gender: 'MALE',
  bio: 'Climbs',
  city: 'Jakarta',
  distance: 4,
  compatibilityScore: 72,
  isPhotoVerified: true,
  isOnline: false,
  fitnessLevel: 'INTERMEDIATE',
  fitnessGoals: ['STAY_FIT'],
  preferredTimes: ['MORNING'],
  workoutDays: ['MONDAY'],
  height: 181,
  weight: 77,
  favoriteSports: ['climbing'],
  photos: [exampleCandidatePhoto],
  prompts: [{ question: 'Best exercise?', answer: 'Deadlift' }],
  venues: [{ name: 'Gelora', branch: null, city: 'Jakarta', latitude: -6.22, longitude: 106.8 }],
  sameGym: true,
  sharedVenues: [{ name: 'Gelora', branch: null }]
}

/** A person as discover shows them. */
export const Candidate = named('Candidate', Type.Object(candidateFields, { examples: [exampleCandidate] }))
/** A candidate as queries return it, with the photos as they are stored. */
export type StoredCandidate = Omit<Type.Static<typeof Candidate>, 'photos'> & { photos: CandidateRow['photos'] }

/** Selects everything a Candidate shows to the profile `me`, except distance and score. */
export function selectCandidates<Selected> (
  profiles: SelectQueryBuilder<Tables, 'profiles', Selected>,
  me: { id: string }
) {
  return profiles
    .innerJoin('members', 'members.account_id', 'profiles.account_id')
    .leftJoin('activity', 'activity.account_id', 'profiles.account_id')
    .select((eb) => [
      'profiles.id',
      'profiles.account_id as accountId',
      'display_name as displayName',
      ageNow.as('age'),
      'gender',
      'bio',
      'city',
      'photo_verified as isPhotoVerified',
      'show_last_active as showLastActive',
      'last_active_at as lastActiveAt',
      sql<boolean>`show_online_status and coalesce(last_active_at > now() - ${sql.lit(ONLINE_WITHIN)}::interval, false)`
        .as('isOnline'),
      'experience as fitnessLevel',
      'fitness_goals as fitnessGoals',
      'preferred_times as preferredTimes',
      'workout_days as workoutDays',
      'height',
      'weight',
      'favorite_sports as favoriteSports',
      'prompts',
      jsonArrayFrom(
        eb.selectFrom('photos').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .select(candidatePhotoColumns)
      ).as('photos'),
      jsonArrayFrom(
        eb.selectFrom('venues').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .select(['name', 'branch', 'venues.city', 'venues.latitude', 'venues.longitude'])
      ).as('venues'),
      jsonArrayFrom(
        eb.selectFrom('venues').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom('venues as mine').where('mine.profile_id', '=', me.id)
                .where(sql<boolean>`mine.gym_keys && venues.gym_keys`)
            )
          )
          .select(['name', 'branch'])
      ).as('sharedVenues')
    ])
}

/** Distance and score of the current profile for `me`. Join it laterally. */
export const scoredAgainst = (me: CompatibilityInputs) =>
  sql<{ km: number | null, score: number }>`(
  select ${visibleKm} as km, ${compatibilityScoreFor(me)} as score from (select ${sharedScoreWith(me)} as shared,
    ${distanceKmFrom(me)} as km, ${sharesGymWith(me)} as shares_gym) as compared)`.as<'scored'>(sql.ref('scored'))

type CandidateRow = Awaited<ReturnType<ReturnType<typeof selectCandidates>['executeTakeFirstOrThrow']>>

/** @param km the exact distance, shown in whole kilometres; null if the person hides it */
export function toCandidate (row: CandidateRow, km: number | null, compatibilityScore: number): StoredCandidate {
  return {
    ...row,
    compatibilityScore,
    distance: km === null ? null : Math.max(1, Math.round(km)),
    sameGym: row.sharedVenues.length > 0,
    prompts: row.prompts.map(({ question, answer }) => ({ question, answer })),
    venues: row.venues.map((venue) => ({
      ...venue,
      latitude: roundDegrees(venue.latitude),
      longitude: roundDegrees(venue.longitude)
    }))
  }
}
