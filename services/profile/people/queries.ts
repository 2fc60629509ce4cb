import { sql, type Expression } from 'kysely'
import { findUsernameError } from '@tandem/account-kit'
import { lookupArray } from '@tandem/database-kit'
import type { ImageDetails } from '@tandem/media-kit'
import type { Db, Trx } from '../tables.ts'

/** The birth date as text: the driver would turn a date into a timestamp. */
const birthDate = sql<string | null>`birth_date::text`.as('birth_date')

/** The version of a person: a string, because a Date would lose the microseconds. */
const changedAt = sql<string>`to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('changedAt')

/** The sizes of an upload, as JSON; null for images of other hosts and for uploads without sizes. */
const detailsOf = (image: Expression<unknown>) =>
  sql<ImageDetails | null>`(
    select jsonb_build_object('width', width, 'height', height, 'blurhash', blurhash) from uploads
    where uploads.key = ${image} and width is not null)`

const imageDetails = detailsOf(sql.ref('people.image')).as('imageDetails')

/** The columns of a `Person`. */
export const personColumns = [
  'account_id',
  'name',
  'username',
  'image',
  imageDetails,
  'bio',
  'gender',
  birthDate,
  'height',
  'height_unit',
  'weight',
  'weighed_at',
  'entered_weight',
  'entered_at',
  'weight_sequence',
  'weight_unit',
  'fitness_goal',
  'experience',
  'photos',
  'published_media_base',
  'community_rules_accepted',
  'country_id',
  'region_id',
  'city_id',
  'locale',
  'timezone',
  'timezone_chosen',
  'motivations',
  'favorite_sports',
  'activity_style',
  'preferred_availability',
  'preferred_workout_time',
  'workout_frequency',
  'location_enabled',
  'push_notifications',
  'latitude',
  'longitude',
  'current_step',
  'current_sub_step',
  'completed_at',
  'created_at',
  changedAt
] as const

const selectPeople = (db: Db) => db.selectFrom('people').select(personColumns)

export const findPerson = async (db: Db, accountId: string) =>
  await selectPeople(db).where('account_id', '=', accountId).executeTakeFirst()

export type Person = NonNullable<Awaited<ReturnType<typeof findPerson>>>

/** Locks the row of a person. */
export const lockPerson = async (trx: Trx, accountId: string) =>
  await selectPeople(trx).where('account_id', '=', accountId).forUpdate().executeTakeFirstOrThrow()

/** Unknown ids are left out. */
export const listPeople = async (db: Db, accountIds: string[]) =>
  await selectPeople(db).where('account_id', '=', sql<string>`any(${lookupArray(accountIds, 'uuid')}::uuid[])`)
    .execute()

/** Usernames are case-insensitive. */
export const listPeopleByUsername = async (db: Db, usernames: string[]) =>
  await selectPeople(db)
    .where(sql`lower(username)`, '=', sql`any(${usernames.map((name) => name.toLowerCase())}::text[])`).execute()

/** The sizes of a person's photos, in their order. */
export async function listPhotoDetails (db: Db, accountId: string) {
  return await db.selectFrom('people').where('account_id', '=', accountId)
    .innerJoinLateral(
      sql<{ url: string, place: number }>`unnest(photos) with ordinality`.as<'photo'>(sql`photo (url, place)`),
      (join) => join.onTrue()
    )
    .select(detailsOf(sql.ref('photo.url')).as('details')).orderBy('place').execute()
}

/**
 * Whether `accountId` can use this username: it already does, or the name is one that can be chosen, and neither taken
 * (case-insensitive) nor reserved.
 */
export async function isUsernameAvailable (db: Db, username: string, accountId: string) {
  const holder = await db.selectFrom('people').select('account_id')
    .where(sql`lower(username)`, '=', username.toLowerCase())
    .executeTakeFirst()
  if (holder) return holder.account_id === accountId
  return findUsernameError(username) === undefined && !await isReservedUsername(db, username, accountId)
}

/** Whether this username was given up by somebody else less than 30 days ago, or by an erased account less than 90. */
export async function isReservedUsername (db: Db, username: string, accountId: string) {
  const reserved = await db.selectFrom('reserved_usernames').where('username', '=', username.toLowerCase())
    .where('until', '>', sql<Date>`now()`)
    .where('account_id', 'is distinct from', accountId)
    .select('username').executeTakeFirst()
  return reserved !== undefined
}
