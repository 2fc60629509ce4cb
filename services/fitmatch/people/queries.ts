import { sql, type Expression } from 'kysely'
import type { Entitlement } from '@tandem/contracts'
import { AgeRestricted, AgeUnknown, ProfileMissing, ProfileSuspended } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

const ageSince = (birthDate: Expression<unknown>) =>
  sql<number | null>`extract(year from age((now() at time zone 'UTC')::date, ${birthDate}))::int`

/** The age in full years of the current row's person. */
export const ageNow = ageSince(sql.ref('profiles.birth_date'))

/** Whether a birth date, by default that of the current profile, says that a person is old enough to meet others. */
export const isOfAge = (minAge: number, birthDate: Expression<unknown> = sql.ref('profiles.birth_date')) =>
  sql<boolean>`(${minAge}::int = 0 or ${ageSince(birthDate)} >= ${minAge}::int)`

/** Whether a birth date says that a person is too young to meet others. Nothing says it of one who has none. */
export const isTooYoung = (minAge: number, birthDate?: Expression<unknown>) =>
  sql<boolean>`(${isOfAge(minAge, birthDate)} is false)`

/** Whether the subscription of the current row's member unlocks something now. */
export const isUnlocked = (entitlement: Entitlement) =>
  sql<boolean>`coalesce(members.subscribed_until > now() and ${entitlement} = any(members.entitlements), false)`

/** The account of a profile; undefined if there is no such profile. */
export async function findAccountOfProfile (db: Db, profileId: string) {
  const profile = await db.selectFrom('profiles').where('id', '=', profileId).select('account_id').executeTakeFirst()
  return profile?.account_id
}

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
      isUnlocked('unlimited_swipes').as('hasUnlimitedSwipes'),
      isUnlocked('see_likes').as('canSeeLikes')
    ])
    .executeTakeFirst()
}
export type Caller = NonNullable<Awaited<ReturnType<typeof findCaller>>>

/** Until when the newest consumed event says that the account has a subscription. */
export async function findSubscribedUntil (db: Db, accountId: string) {
  const member = await db.selectFrom('members').where('account_id', '=', accountId).select('subscribed_until')
    .executeTakeFirst()
  return member?.subscribed_until ?? undefined
}

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

/** The caller, if their birth date says that they are old enough to meet people. @throws one of `adultErrors` */
export async function readAdult ({ db, minAge }: { db: Db, minAge: number }, accountId: string): Promise<Caller> {
  const caller = await readParticipant(db, accountId)
  if (minAge > 0 && caller.age === null) throw new AgeUnknown()
  if (caller.age !== null && caller.age < minAge) throw new AgeRestricted({ minAge })
  return caller
}

/**
 * The columns that actions need of a locked profile. Named, because `*` breaks prepared statements as soon as a
 * migration adds a column.
 */
export const lockedProfileColumns = [
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
  const profile = await trx.selectFrom('profiles').where('account_id', '=', accountId).select(lockedProfileColumns)
    .forUpdate()
    .executeTakeFirst()
  if (!profile) throw new ProfileMissing()
  return profile
}
export type LockedProfile = Awaited<ReturnType<typeof lockProfile>>
