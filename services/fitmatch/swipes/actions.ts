import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { LikeReceived, MatchMade } from '@tandem/contracts'
import { ValidationError } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { AgeRestricted, AgeUnknown, ProfileNotFound, TooManySwipes } from '../errors.ts'
import { lockPair, pairOf } from '../matches/pairs.ts'
import { ageNow, isVisibleTo, readParticipant } from '../profiles/queries.ts'
import { dayIn, spendToday } from '../quotas.ts'
import type { MatchType, SwipeType, Trx } from '../schema.ts'
import { describeLimits, limitOf } from './limits.ts'

interface Swipe { targetProfileId: string, swipeType: SwipeType }

const isInterest = (type: SwipeType | undefined): type is MatchType => type !== undefined && type !== 'PASS'

/**
 * Answers whether two people are interested in each other. A repeat costs nothing; a changed mind costs a swipe; between two who are
 * matched nothing changes any more.
 */
export async function swipe ({ db, minAge }: Deps, accountId: string, { targetProfileId, swipeType }: Swipe) {
  const me = await readParticipant(db, accountId)
  if (targetProfileId === me.id) throw new ValidationError('This profile is your own')
  if (minAge > 0 && me.age === null) throw new AgeUnknown()
  if (me.age !== null && me.age < minAge) throw new AgeRestricted(minAge)
  const day = dayIn(me.timezone)

  return await db.transaction().execute(async (trx) => {
    const { account_id: targetId } = await trx.selectFrom('profiles').where('id', '=', targetProfileId).select('account_id').executeTakeFirst() ?? {}
    if (!targetId) throw new ProfileNotFound()
    await lockPair(trx, accountId, targetId)
    await holdProfiles(trx, accountId, targetId)
    const target = await findTarget(trx, accountId, targetProfileId)
    if (!target) throw new ProfileNotFound()

    const match = await findMatch(trx, accountId, targetId)
    const mine = await findSwipe(trx, accountId, targetId)
    if (match || mine?.swipe_type === swipeType) {
      return { swipeType, match: match && { ...match, matchedProfile: target }, remaining: describeLimits(me, await usedOn(trx, accountId, day)).remaining }
    }

    const used = await spendToday(trx, 'swipe_quota', { accountId, day, limit: limitOf(me) })
    if (used === undefined) throw new TooManySwipes()
    const theirs = await findSwipe(trx, targetId, accountId)
    const made = isInterest(swipeType) && isInterest(theirs?.swipe_type) ? await makeMatch(trx, accountId, targetId, swipeType, theirs.swipe_type) : undefined
    const tells = isInterest(swipeType) && !made && !mine?.told
    if (tells) {
      await record(trx, LikeReceived, targetId, { accountId: targetId, swipeType, likedBy: target.isSubscribed ? accountId : null })
    }
    const told = mine?.told === true || tells
    await trx.insertInto('swipes').values({ swiper_id: accountId, target_id: targetId, swipe_type: swipeType, told })
      .onConflict((conflict) => conflict.columns(['swiper_id', 'target_id']).doUpdateSet({ swipe_type: swipeType, told, created_at: sql`now()` }))
      .execute()
    return { swipeType, match: made && { ...made, matchedProfile: target }, remaining: describeLimits(me, used).remaining }
  })
}

// Neither profile may go away before the swipe is written, or it would leave a match with nobody.
async function holdProfiles (trx: Trx, one: string, other: string) {
  const held = await trx.selectFrom('profiles').where('account_id', 'in', [one, other]).select('id').orderBy('account_id').forShare().execute()
  if (held.length < 2) throw new ProfileNotFound()
}

async function findTarget (trx: Trx, viewer: string, profileId: string) {
  return await trx.selectFrom('profiles').innerJoin('members', 'members.account_id', 'profiles.account_id')
    .where('profiles.id', '=', profileId)
    .where(isVisibleTo(viewer))
    .select((eb) => [
      'profiles.id', 'display_name as displayName', ageNow.as('age'), sql<boolean>`coalesce(subscribed_until > now(), false)`.as('isSubscribed'),
      eb.selectFrom('photos').whereRef('profile_id', '=', 'profiles.id').where('is_main', '=', true).select('url').as('photo')
    ])
    .executeTakeFirst()
}

const findSwipe = async (trx: Trx, swiper: string, target: string) =>
  await trx.selectFrom('swipes').where('swiper_id', '=', swiper).where('target_id', '=', target).select(['swipe_type', 'told']).executeTakeFirst()

async function findMatch (trx: Trx, one: string, other: string) {
  const { low_id, high_id } = pairOf(one, other)
  return await trx.selectFrom('matches').where('low_id', '=', low_id).where('high_id', '=', high_id).where('ended_at', 'is', null)
    .select(['id as matchId', 'match_type as matchType', 'created_at as matchedAt'])
    .executeTakeFirst()
}

async function makeMatch (trx: Trx, one: string, other: string, mine: MatchType, theirs: MatchType) {
  const matchType: MatchType = mine === 'LIKE' && theirs === 'LIKE' ? 'LIKE' : 'WORKOUT_BUDDY'
  const pair = pairOf(one, other)
  const match = await trx.insertInto('matches').values({ ...pair, match_type: matchType })
    .returning(['id as matchId', 'match_type as matchType', 'created_at as matchedAt'])
    .executeTakeFirstOrThrow()
  await record(trx, MatchMade, match.matchId, { matchId: match.matchId, accountIds: [pair.low_id, pair.high_id], matchType })
  return match
}

async function usedOn (trx: Trx, accountId: string, day: string) {
  const row = await trx.selectFrom('swipe_quota').where('account_id', '=', accountId).where('day', '=', day).select('used').executeTakeFirst()
  return row?.used ?? 0
}
