import { publish } from '@tandem/bus-kit'
import { ActivityAsked, ActivityConfirmed, ParticipationChanged } from '@tandem/contracts'
import { useDailyQuota } from '@tandem/database-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ActivityChanged, ActivityNotFound, ActivityOver, TooManyJoinRequests } from '../errors.ts'
import { shareMoved } from '../meetings/actions.ts'
import { readAdult, readParticipant, type Caller } from '../people/queries.ts'
import { todayIn } from '../today.ts'
import type { Db, Trx } from '../tables.ts'
import { endParticipation } from './endings.ts'
import { findParticipant, isOver, lockAsGuest, setState, type LockedActivity } from './locks.ts'
import { countWaiting, eventFieldsOf, hasPlace, readCard, takePlace } from './places.ts'
import { findActivity } from './queries.ts'

const JOIN_REQUESTS_PER_DAY = 20

type GuestDeps = Pick<Deps, 'db' | 'minAge' | 'now'>

interface GuestContext {
  trx: Trx
  me: Caller
  activity: LockedActivity
  own: Awaited<ReturnType<typeof findParticipant>>
}

/**
 * Runs `work` on an activity that the caller can see, under its locks, and returns it as the caller sees it then.
 * @param isPart whether it may also be one that the caller is part of, and cannot see while the host is hidden
 * @param isEnding whether the caller only ends something, which nobody is too young for
 */
async function asGuest (
  { db, minAge, now }: GuestDeps,
  accountId: string,
  activityId: string,
  work: (context: GuestContext) => Promise<void>,
  { isPart = false, isEnding = false } = {}
) {
  const readMe = async (current: Db) =>
    isEnding ? await readParticipant(current, accountId) : await readAdult({ db: current, minAge }, accountId)
  const me = await readMe(db)
  return await db.transaction().execute(async (trx) => {
    const minHostAge = isEnding ? 0 : minAge
    const activity = await lockAsGuest(trx, accountId, activityId, { now: now(), isPart, minHostAge })
    // Again, because a suspension may have come between the first check and the lock.
    await readMe(trx)
    if (isOver(activity, now())) throw new ActivityOver()
    await work({ trx, me, activity, own: await findParticipant(trx, activityId, accountId) })
    // A person who leaves no longer sees it.
    return await findActivity(trx, me, activityId, now()) ?? null
  })
}

/** Answers an invitation. To accept, the caller names the version that they have seen. */
export async function respond (
  deps: GuestDeps,
  accountId: string,
  activityId: string,
  { accept, version }: { accept: boolean, version: number }
) {
  return await asGuest(deps, accountId, activityId, async ({ trx, me, activity, own }) => {
    const isRepeated = own?.state === (accept ? 'GOING' : 'DECLINED')
    if (isRepeated) return
    if (own?.state !== 'INVITED') throw new ActivityNotFound()
    if (!accept) {
      return await endParticipation(trx, activity, { accountId, own, state: 'DECLINED', isOwn: true })
    }
    if (version !== activity.version) throw new ActivityChanged()
    if (!hasPlace(own)) await takePlace(trx, activityId)
    await setState(trx, { activityId, accountId, state: 'GOING', version })
    await shareMoved(trx, me, { activityId, version })
    await publish(trx, ActivityConfirmed, activityId, {
      ...eventFieldsOf(activity),
      accountId: activity.hostId,
      confirmedBy: accountId,
      ...await readCard(trx, accountId)
    })
  }, { isEnding: !accept })
}

/** Asks the host of an open activity for a place. People who already take part stay as they are. */
export async function askToJoin (deps: GuestDeps, accountId: string, activityId: string) {
  return await asGuest(deps, accountId, activityId, async ({ trx, me, activity, own }) => {
    if (own && own.state !== 'DECLINED') return
    if (activity.visibility !== 'OPEN') throw new ActivityNotFound()
    const quota = {
      name: 'join requests',
      accountId,
      day: todayIn(me.timezone),
      limit: JOIN_REQUESTS_PER_DAY
    }
    if (await useDailyQuota(trx, quota) === undefined) throw new TooManyJoinRequests()
    await trx.insertInto('activity_participants')
      .values({ activity_id: activityId, account_id: accountId, state: 'ASKED', version: activity.version })
      .onConflict((conflict) =>
        conflict.columns(['activity_id', 'account_id'])
          .doUpdateSet({ state: 'ASKED', version: activity.version, by_account: false })
      )
      .execute()
    await publish(trx, ActivityAsked, activityId, {
      ...eventFieldsOf(activity),
      hostId: activity.hostId,
      askedBy: accountId,
      ...await readCard(trx, accountId),
      waitingCount: await countWaiting(trx, activity)
    })
  })
}

/** Gives up a place, declines an invitation, or withdraws a request. */
export async function leave (deps: GuestDeps, accountId: string, activityId: string) {
  return await asGuest(deps, accountId, activityId, async ({ trx, activity, own }) => {
    if (activity.hostId === accountId) {
      throw new ValidationError('youAreHost')
    }
    if (own === undefined) return
    if (own.state === 'ASKED') {
      await trx.deleteFrom('activity_participants')
        .where('activity_id', '=', activityId).where('account_id', '=', accountId)
        .execute()
      await publish(trx, ParticipationChanged, activityId, { activityId, accountIds: [accountId] })
      return
    }
    const state = own.state === 'GOING' ? 'LEFT' : 'DECLINED'
    await endParticipation(trx, activity, { accountId, own, state, isOwn: true })
  }, { isPart: true, isEnding: true })
}
