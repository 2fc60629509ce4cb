import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { MatchFacts, ProfileDeleted } from '@tandem/contracts'
import { useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { validateName } from '@tandem/account-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { NotFound } from '@tandem/http-kit'
import { endAllBuddies } from '../buddies/endings.ts'
import { planFirstCheck } from '../badges/check-times.ts'
import type { Deps } from '../deps.ts'
import { ProfileExists, TooManyPositionChanges } from '../errors.ts'
import { endPlacesOf } from '../activities/endings.ts'
import { endMatch } from '../matches/actions.ts'
import { findCaller, lockProfile } from '../people/queries.ts'
import { haveMet } from '../people/visibility.ts'
import { sportBitsOf } from '../people/sports.ts'
import type { StoredPhoto } from '../photos/describe.ts'
import { deleteUnused, insertWithFiles, keepFiles, markUnused } from '../photos/files.ts'
import { todayIn } from '../today.ts'
import type { Trx } from '../tables.ts'
import { checkAge, checkAgeRange, toColumns, type Position } from './fields.ts'
import { checkInterests } from './interests.ts'
import { columnsOf, copyPhotos, saveFetchedFacts, type MainProfile } from './main-profile.ts'
import { readOwnProfile } from './queries.ts'
import type { ProfileFields } from './schemas.ts'
import { encodeTraits } from '../candidates/traits.ts'

const POSITION_CHANGES_PER_DAY = 20

/** Creates a profile. Fields that the client omits are taken from the main profile as it is now. */
export async function createProfile (
  deps: Deps,
  accountId: string,
  fields: ProfileFields,
  idempotencyKey?: IdempotencyKey
) {
  const { db, callRpc, minAge } = deps
  if (!idempotencyKey && await findCaller(db, accountId)) throw new ProfileExists()
  const calledAt = new Date()
  const [facts] = await Promise.all([callRpc(MatchFacts, { accountId }), checkInterests(callRpc, fields.interestedIn)])
  if (!facts) throw new NotFound()
  validateName('displayName', fields.displayName, facts.name)
  const columns = columnsOf(facts, fields, minAge)
  checkAge(columns.birth_date, minAge)
  checkAgeRange(columns, minAge)
  const photos = await copyPhotos(deps, facts)
  return await insertWithFiles(
    deps,
    photos.map(({ url }) => url),
    async () =>
      await withIdempotencyKey(
        db,
        idempotencyKey,
        async (trx) => await insertProfile(trx, accountId, { columns, facts, photos, calledAt })
      )
  )
}

interface NewProfileParts {
  columns: ReturnType<typeof columnsOf>
  facts: MainProfile
  photos: StoredPhoto[]
  calledAt: Date
}

async function insertProfile (trx: Trx, accountId: string, { columns, facts, photos, calledAt }: NewProfileParts) {
  const member = await saveFetchedFacts(trx, accountId, facts, calledAt)
  // Otherwise deleting and recreating the profile would allow unlimited position changes.
  if (columns.latitude !== null) await countPositionChange(trx, accountId, member.timezone)
  const profile = await trx.insertInto('profiles')
    .values({
      ...columns,
      // Events may have brought a newer one than the fetched facts.
      birth_date: columns.has_custom_birth_date ? columns.birth_date : member.birth_date,
      account_id: accountId,
      suspended: member.suspended_at !== null,
      photo_count: photos.length,
      trait_bits: traitBitsOf(columns),
      sport_bits: sql`${await sportBitsOf(trx, member.favorite_sports)}::bit(128)`
    })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!profile) throw new ProfileExists()
  await planFirstCheck(trx, accountId)
  if (photos.length > 0) {
    await trx.insertInto('photos')
      .values(
        photos.map((photo, index) => ({
          ...photo,
          profile_id: profile.id,
          uploaded: isMediaKey(photo.url),
          is_main: index === 0,
          sort_order: index
        }))
      )
      .execute()
    await keepFiles(trx, photos.map(({ url }) => url))
  }
  return await readOwnProfile(trx, accountId)
}

export async function updateProfile (
  { db, callRpc, minAge }: Deps,
  accountId: string,
  fields: ProfileFields & Position
) {
  const changes = toColumns(fields)
  if (changes.birth_date !== undefined) checkAge(changes.birth_date, minAge)
  if (fields.interestedIn !== undefined) {
    await checkInterests(callRpc, fields.interestedIn, (await readOwnProfile(db, accountId)).interestedIn)
  }
  return await db.transaction().execute(async (trx) => {
    const profile = await lockProfile(trx, accountId)
    validateName('displayName', fields.displayName, profile.display_name)
    const changed = { ...profile, ...changes }
    if (changes.age_min !== undefined || changes.age_max !== undefined) checkAgeRange(changed, minAge)
    if (changed.latitude !== profile.latitude || changed.longitude !== profile.longitude) {
      const { timezone } = await trx.selectFrom('members').select('timezone').where('account_id', '=', accountId)
        .executeTakeFirstOrThrow()
      await countPositionChange(trx, accountId, timezone)
    }
    await trx.updateTable('profiles')
      .set({ ...changes, trait_bits: traitBitsOf(changed), updated_at: sql`now()` })
      .where('account_id', '=', accountId)
      .execute()
    return await readOwnProfile(trx, accountId)
  })
}

async function countPositionChange (trx: Trx, accountId: string, timezone: string) {
  if (
    !await useDailyQuota(trx, {
      name: 'position changes',
      accountId,
      day: todayIn(timezone),
      limit: POSITION_CHANGES_PER_DAY
    })
  ) throw new TooManyPositionChanges()
}

const traitBitsOf = (
  columns: { interested_in: string[], fitness_goals: string[], preferred_times: string[], workout_days: string[] }
) =>
  encodeTraits({
    interestedIn: columns.interested_in,
    fitnessGoals: columns.fitness_goals,
    preferredTimes: columns.preferred_times,
    workoutDays: columns.workout_days
  })

/**
 * Deletes the profile with its matches, chats, likes and buddies. What belongs to the account stays: blocks, reports, a
 * suspension, badges, the day's swipes, and other people's passes. For 30 days the people it was matched with, or was in
 * an activity with, can still report its owner, so a copy of the profile and the messages of ended matches stay where
 * only reports find them.
 */
export async function deleteProfile (deps: Deps, accountId: string) {
  const unused = await deps.db.transaction().execute(async (trx) => {
    const { id } = await lockProfile(trx, accountId)
    const profile = await readOwnProfile(trx, accountId)
    const photos = await trx.selectFrom('photos').where('profile_id', '=', id).where('uploaded', '=', true).select(
      'url'
    ).execute()
    const photoUrls = photos.map(({ url }) => url)

    // Locked in a fixed order, or three people who are matched in a ring and delete at once could deadlock.
    const matches = await trx.selectFrom('matches').where((eb) =>
      eb.or([eb('low_id', '=', accountId), eb('high_id', '=', accountId)])
    )
      .select(['low_id', 'high_id', 'ended_at']).orderBy('id').forUpdate().execute()
    for (const { low_id, high_id, ended_at } of matches) if (!ended_at) await endMatch(trx, low_id, high_id)
    await endPlacesOf(trx, accountId)
    const { hasMet } = await trx.selectNoFrom(haveMet(accountId).as('hasMet')).executeTakeFirstOrThrow()
    const isKept = matches.length > 0 || hasMet
    if (isKept) {
      await trx.insertInto('deleted_profiles')
        .values({
          id,
          account_id: accountId,
          display_name: profile.displayName,
          profile: JSON.stringify(profile),
          photo_urls: photoUrls
        })
        .execute()
    }
    await endAllBuddies(trx, accountId)
    await trx.deleteFrom('swipes').where('swiper_id', '=', accountId).execute()
    await trx.deleteFrom('swipes').where('target_id', '=', accountId).where('swipe_type', '<>', 'PASS').execute()
    await trx.updateTable('verifications').set({ status: 'CANCELED', decided_at: sql`now()` })
      .where('account_id', '=', accountId).where('status', '=', 'PENDING').execute()
    // A later profile of the account does not get back what was removed from this one.
    await trx.updateTable('removed_photos').set({ url: null }).where('account_id', '=', accountId).execute()
    await trx.deleteFrom('profiles').where('id', '=', id).execute()
    await publish(trx, ProfileDeleted, accountId, { accountId })
    if (isKept) return []
    await markUnused(trx, photoUrls)
    return photoUrls
  })
  await deleteUnused(deps, unused).catch(() => {})
}
