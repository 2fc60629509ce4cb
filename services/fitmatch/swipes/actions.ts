import { sql } from 'kysely'
import { jsonObjectFrom } from 'kysely/helpers/postgres'
import { publish } from '@tandem/bus-kit'
import { LikeReceived, LikesWithdrawn, MatchMade } from '@tandem/contracts'
import { readDailyQuota, useDailyQuota } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ProfileNotFound, TooManySwipes } from '../errors.ts'
import { pairLock, pairOf } from '../people/pairs.ts'
import { ageNow, isTooYoung, isUnlocked, readAdult } from '../people/queries.ts'
import { isVisibleTo } from '../people/visibility.ts'
import { mainPhotoOf } from '../photos/queries.ts'
import type { MatchType, SwipeType, Trx } from '../tables.ts'
import { dailyLimitOf, describeLimits, swipeQuotaOf } from './limits.ts'

interface Swipe {
  targetProfileId: string
  swipeType: SwipeType
}

const isInterest = (type: SwipeType | null): type is MatchType => type !== null && type !== 'PASS'

/**
 * Swipes on a profile and creates a match if both people are interested. Repeating a swipe is free, changing it costs a
 * swipe, and between two matched people a swipe changes nothing.
 */
export async function swipe ({ db, minAge }: Deps, accountId: string, { targetProfileId, swipeType }: Swipe) {
  const me = await readAdult({ db, minAge }, accountId)
  if (targetProfileId === me.id) {
    throw new ValidationError('targetProfileIdMustNotBeYourOwn', ['targetProfileId'])
  }
  const quota = swipeQuotaOf(me)

  return await db.transaction().execute(async (trx) => {
    const targetId = await lockPairWithProfile(trx, accountId, targetProfileId)
    const {
      match,
      mySwipe,
      isLikePublished,
      theirSwipe,
      isTheirLikePublished,
      canSeeLikes,
      ownName,
      isPaused,
      ...target
    } = await lockPairState(trx, { accountId, targetId, minAge })
    if (match || mySwipe === swipeType) {
      return {
        swipeType,
        match: match && { ...match, matchedProfile: target },
        remaining: describeLimits(me, await readDailyQuota(trx, quota)).remaining
      }
    }

    const used = await useDailyQuota(trx, { ...quota, limit: dailyLimitOf(me) })
    if (used === undefined) throw new TooManySwipes()
    const newMatch = isInterest(swipeType) && isInterest(theirSwipe)
      ? await createMatch(trx, { id: accountId, profileId: me.id, name: ownName, swipe: swipeType }, {
        id: targetId,
        profileId: targetProfileId,
        name: target.displayName,
        swipe: theirSwipe
      })
      : undefined
    // Who has answered already is not asked again, and nobody sees the likes of a paused profile.
    const isLike = isInterest(swipeType) && theirSwipe === null && !isPaused
    if (isLike) {
      await publish(trx, LikeReceived, targetId, {
        accountId: targetId,
        swipeType,
        likerId: accountId,
        ...canSeeLikes ? { likedBy: accountId, displayName: ownName, profileId: me.id } : { likedBy: null }
      })
    } else if (isLikePublished) {
      await publish(trx, LikesWithdrawn, accountId, { likerId: accountId, receiverIds: [targetId] })
    }
    if (isTheirLikePublished) {
      await publish(trx, LikesWithdrawn, targetId, { likerId: targetId, receiverIds: [accountId] })
    }
    const row = { swipe_type: swipeType, like_published: isLike }
    await trx.insertInto('swipes').values({ swiper_id: accountId, target_id: targetId, ...row })
      .onConflict((conflict) =>
        conflict.columns(['swiper_id', 'target_id']).doUpdateSet({ ...row, created_at: sql`now()` })
      )
      .execute()
    return {
      swipeType,
      match: newMatch && { ...newMatch, matchedProfile: target },
      remaining: describeLimits(me, used).remaining
    }
  })
}

/** Finds the profile's account and locks the pair, in one statement. */
async function lockPairWithProfile (trx: Trx, accountId: string, profileId: string) {
  const { rows } = await sql<{ targetId: string }>`
    select account_id as "targetId",
      ${pairLock(sql`account_id`, sql`${accountId}::uuid`)} from profiles where id = ${profileId}`.execute(trx)
  if (!rows[0]) throw new ProfileNotFound()
  return rows[0].targetId
}

/**
 * Everything between two people. Call it under the pair's lock. Both profiles are locked too, so neither can be deleted
 * or suspended before the swipe is stored.
 * @throws `adultErrors` of the caller, who may be suspended since the first check, ProfileNotFound
 */
async function lockPairState (
  trx: Trx,
  { accountId, targetId, minAge }: { accountId: string, targetId: string, minAge: number }
) {
  const { low_id: lowId, high_id: highId } = pairOf(accountId, targetId)
  const found = await trx.selectFrom('profiles')
    .innerJoin('members', 'members.account_id', 'profiles.account_id')
    .innerJoin('profiles as own', (join) => join.on('own.account_id', '=', accountId))
    .where('profiles.account_id', '=', targetId)
    .where(isVisibleTo(accountId))
    .where((eb) => eb.not(isTooYoung(minAge)))
    .where('own.suspended', '=', false)
    .where((eb) => eb.not(isTooYoung(minAge, sql.ref('own.birth_date'))))
    .select((eb) => [
      'profiles.id',
      'profiles.display_name as displayName',
      'own.display_name as ownName',
      'own.paused as isPaused',
      ageNow.as('age'),
      isUnlocked('see_likes').as('canSeeLikes'),
      mainPhotoOf('profiles.id').as('photo'),
      swipeOf(trx, accountId, targetId).select('swipe_type').as('mySwipe'),
      swipeOf(trx, accountId, targetId).select('like_published').as('isLikePublished'),
      swipeOf(trx, targetId, accountId).select('swipe_type').as('theirSwipe'),
      swipeOf(trx, targetId, accountId).select('like_published').as('isTheirLikePublished'),
      jsonObjectFrom(
        eb.selectFrom('matches').where('low_id', '=', lowId).where('high_id', '=', highId).where('ended_at', 'is', null)
          .select(['id as matchId', 'match_type as matchType', 'created_at as matchedAt'])
      ).as('match')
    ])
    .forShare(['profiles', 'own'])
    .executeTakeFirst()
  if (!found) {
    await readAdult({ db: trx, minAge }, accountId)
    throw new ProfileNotFound()
  }
  const { match, ...rest } = found
  return { ...rest, match: match && { ...match, matchedAt: new Date(match.matchedAt) } }
}

const swipeOf = (trx: Trx, swiperId: string, targetId: string) =>
  trx.selectFrom('swipes').where('swiper_id', '=', swiperId).where('target_id', '=', targetId)

interface Side {
  id: string
  profileId: string
  name: string
  swipe: MatchType
}

async function createMatch (trx: Trx, one: Side, other: Side) {
  const matchType: MatchType = one.swipe === 'LIKE' && other.swipe === 'LIKE' ? 'LIKE' : 'WORKOUT_BUDDY'
  const pair = pairOf(one.id, other.id)
  const sides = pair.low_id === one.id ? [one, other] : [other, one]
  const match = await trx.insertInto('matches').values({ ...pair, match_type: matchType })
    .returning(['id as matchId', 'match_type as matchType', 'created_at as matchedAt'])
    .executeTakeFirstOrThrow()
  await publish(trx, MatchMade, match.matchId, {
    matchId: match.matchId,
    accountIds: [pair.low_id, pair.high_id],
    displayNames: sides.map(({ name }) => name),
    profileIds: sides.map(({ profileId }) => profileId),
    matchType
  })
  return match
}
