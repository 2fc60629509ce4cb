import { sql } from 'kysely'
import { jsonArrayFrom } from 'kysely/helpers/postgres'
import { ProfileMissing, ProfileSuspended } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { toDegrees } from './position.ts'
import { scoreProfile } from './profile-score.ts'
import type { OwnProfile } from './schemas.ts'

/** The age in full years of the current row's person. */
export const ageNow = sql<
  number | null
>`extract(year from age((now() at time zone 'UTC')::date, profiles.birth_date))::int`

/**
 * Whether the current profile's owner has not blocked `accountId`. Ignores whether the profile is paused or suspended.
 */
export const hasNotBlocked = (accountId: string) =>
  sql<boolean>`
  not exists (select from blocks where blocked_id = ${accountId} and blocker_id = profiles.account_id)`

/** Whether `accountId` has blocked the current profile's owner. */
export const isBlockedBy = (accountId: string) =>
  sql<boolean>`
  exists (select from blocks where blocker_id = ${accountId} and blocked_id = profiles.account_id)`

/** Whether `accountId` is matched with the current profile's owner. */
export const isMatchedWith = (accountId: string) =>
  sql<boolean>`
  exists (select from matches
    where ended_at is null and low_id = least(profiles.account_id, ${accountId}) and high_id = greatest(profiles.account_id, ${accountId}))`

/**
 * Whether `viewer` can see the current profile. Every path from one person to another checks this. Blocked people, in
 * either direction, and suspended profiles are invisible. A paused profile is visible only to its owner and its
 * matches.
 */
export const isVisibleTo = (viewer: string) =>
  sql<boolean>`(
  not profiles.suspended
  and (not profiles.paused or profiles.account_id = ${viewer} or ${isMatchedWith(viewer)})
  and not ${isBlockedBy(viewer)}
  and ${hasNotBlocked(viewer)})`

/** The caller's profile, with everything that decides what they can do. */
export async function findCaller (db: Db, accountId: string) {
  return await db.selectFrom('profiles').innerJoin('members', 'members.account_id', 'profiles.account_id')
    .where('profiles.account_id', '=', accountId)
    .select([
      'profiles.id',
      'profiles.account_id as accountId',
      'status',
      'photo_count as photoCount',
      'gender_bit as genderBit',
      'preferred_gender_bits as preferredGenderBits',
      'age_min as ageMin',
      'age_max as ageMax',
      'max_distance as maxDistance',
      'latitude',
      'longitude',
      'cell',
      'trait_bits as traitBits',
      'sport_bits as sportBits',
      'timezone',
      'paused',
      'show_online_status as showOnlineStatus',
      'show_distance as showDistance',
      'show_last_active as showLastActive',
      'tutorial_seen as tutorialSeen',
      'photo_verified as isPhotoVerified',
      ageNow.as('age'),
      sql<boolean>`coalesce(subscribed_until > now(), false)`.as('isSubscribed')
    ])
    .executeTakeFirst()
}
export type Caller = NonNullable<Awaited<ReturnType<typeof findCaller>>>

/** @throws ProfileMissing */
export async function readCaller (db: Db, accountId: string): Promise<Caller> {
  const caller = await findCaller(db, accountId)
  if (!caller) throw new ProfileMissing()
  return caller
}

/** The caller, unless suspended. @throws ProfileMissing, ProfileSuspended */
export async function readParticipant (db: Db, accountId: string): Promise<Caller> {
  const caller = await readCaller(db, accountId)
  if (caller.status === 'SUSPENDED') throw new ProfileSuspended()
  return caller
}

/**
 * The columns that actions need of a locked profile. Named, because `*` breaks prepared statements as soon as a
 * migration adds a column.
 */
export const lockedColumns = [
  'id',
  'account_id',
  'display_name',
  'latitude',
  'longitude',
  'age_min',
  'age_max',
  'interested_in',
  'fitness_goals',
  'preferred_times',
  'workout_days',
  'photo_verified'
] as const

/** Locks the caller's profile, so that its counts cannot change during the transaction. @throws ProfileMissing */
export async function lockProfile (trx: Trx, accountId: string) {
  const profile = await trx.selectFrom('profiles').where('account_id', '=', accountId).select(lockedColumns).forUpdate()
    .executeTakeFirst()
  if (!profile) throw new ProfileMissing()
  return profile
}
export type Profile = Awaited<ReturnType<typeof lockProfile>>

export async function findOwnProfile (db: Db, accountId: string): Promise<OwnProfile | undefined> {
  const row = await db.selectFrom('profiles').where('account_id', '=', accountId)
    .select((eb) => [
      'id',
      'display_name as displayName',
      'bio',
      'city',
      'district',
      sql<string | null>`birth_date::text`.as('birthDate'),
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
      'prompts',
      jsonArrayFrom(
        eb.selectFrom('photos').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .select(['photos.id', 'url', 'is_main as isMain', 'sort_order as sortOrder'])
      ).as('photos'),
      jsonArrayFrom(
        eb.selectFrom('venues').whereRef('profile_id', '=', 'profiles.id').orderBy('sort_order')
          .select([
            'venues.id',
            'chain_id as chainId',
            'name',
            'branch',
            'venues.city',
            'venues.latitude',
            'venues.longitude',
            'place_id as placeId',
            'is_custom as isCustom',
            'sort_order as sortOrder'
          ])
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
