import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { ParticipationChanged } from '@tandem/contracts'
import { ActivityNotFound, ActivityOver } from '../errors.ts'
import { lockPair } from '../people/pairs.ts'
import type { ParticipantState, Trx } from '../tables.ts'
import { canSeeActivity, hasHostOfAge, hasPart } from './visibility.ts'

// Locks are always taken in this order, or two transactions could deadlock: pairs of people, members, profiles,
// activities by id. Participants and timers change only under the lock of their activity.

/** The columns of a LockedActivity. */
export const lockedColumns = [
  'id',
  'host_id as hostId',
  'title',
  'sport',
  'timezone',
  'starts_at as startsAt',
  'ends_at as endsAt',
  'visibility',
  'capacity',
  'going_count as goingCount',
  'status',
  'version'
] as const

const lockActivities = (trx: Trx) => trx.selectFrom('activities').select(lockedColumns).orderBy('id').forUpdate()
export type LockedActivity = Awaited<ReturnType<ReturnType<typeof lockActivities>['executeTakeFirstOrThrow']>>

export const isOver = ({ status, endsAt }: Pick<LockedActivity, 'status' | 'endsAt'>, now: Date) =>
  status !== 'PLANNED' || endsAt <= now

/** Locks an activity of the caller. @throws ActivityNotFound */
export async function lockHosted (trx: Trx, hostId: string, activityId: string): Promise<LockedActivity> {
  const activity = await lockActivities(trx).where('id', '=', activityId).where('host_id', '=', hostId)
    .executeTakeFirst()
  if (!activity) throw new ActivityNotFound()
  return activity
}

/** The same, if it is still planned. @throws ActivityNotFound, ActivityOver */
export async function lockPlanned (trx: Trx, hostId: string, activityId: string, now: Date) {
  const activity = await lockHosted(trx, hostId, activityId)
  if (isOver(activity, now)) throw new ActivityOver()
  return activity
}

/**
 * Locks an activity that `accountId` can see, or is part of, and before it the pair with the host and the person's own
 * profile. So the person stays unblocked, matched and unsuspended until the end of the transaction. With `minHostAge`,
 * the host has to be old enough to meet people.
 * @throws ActivityNotFound
 */
export async function lockAsGuest (
  trx: Trx,
  accountId: string,
  activityId: string,
  { now, isPart = false, minHostAge = 0 }: { now: Date, isPart?: boolean, minHostAge?: number }
) {
  const found = await trx.selectFrom('activities').where('id', '=', activityId).select('host_id as hostId')
    .executeTakeFirst()
  if (!found) throw new ActivityNotFound()
  if (found.hostId !== accountId) await lockPair(trx, found.hostId, accountId)
  await shareProfiles(trx, [accountId])
  const activity = await lockActivities(trx).where('id', '=', activityId).where((eb) =>
    eb.or([canSeeActivity(accountId, now), ...isPart ? [hasPart(accountId)] : []])
  )
    .where(hasHostOfAge(minHostAge))
    .executeTakeFirst()
  if (!activity) throw new ActivityNotFound()
  return activity
}

/** Keeps profiles from being suspended or deleted until the end of the transaction. Returns the unsuspended accounts. */
export async function shareProfiles (trx: Trx, accountIds: string[]) {
  const rows = await trx.selectFrom('profiles').where('account_id', '=', sql<string>`any(${accountIds}::uuid[])`)
    .select(['account_id as accountId', 'suspended'])
    .orderBy('account_id').forShare()
    .execute()
  return rows.filter(({ suspended }) => !suspended).map(({ accountId }) => accountId)
}

/**
 * Locks the activities to come that each of the accounts hosts, goes to, is invited to, has asked for, or has left; with
 * `hostIds`, only those of these hosts. No others: somebody may hold their locks and wait for one of these.
 */
export async function lockActivitiesOf (trx: Trx, accountIds: string[], hostIds?: string[]) {
  return await lockActivities(trx).where('status', '=', 'PLANNED').where('ends_at', '>', sql<Date>`now()`)
    .where((eb) =>
      eb.and(accountIds.map((accountId) =>
        eb.exists(
          eb.selectFrom('activity_participants').whereRef('activity_id', '=', 'activities.id')
            .where('account_id', '=', accountId)
        )
      ))
    )
    .$if(hostIds !== undefined, (query) => query.where('host_id', '=', sql<string>`any(${hostIds}::uuid[])`))
    .execute()
}

/** The state of a participant, or undefined. */
export async function findParticipant (trx: Trx, activityId: string, accountId: string) {
  return await trx.selectFrom('activity_participants')
    .where('activity_id', '=', activityId).where('account_id', '=', accountId)
    .select(['state', 'version', 'was_going as wasGoing'])
    .executeTakeFirst()
}

export type Participant = NonNullable<Awaited<ReturnType<typeof findParticipant>>>

interface NewState {
  activityId: string
  accountId: string
  state: ParticipantState
  version?: number
}

/**
 * Changes the state of a participant, who keeps no reserved place, and makes earlier notifications of it obsolete. Those
 * who go are seen with their profile from then on.
 */
export async function setState (trx: Trx, { activityId, accountId, state, version }: NewState) {
  await publish(trx, ParticipationChanged, activityId, { activityId, accountIds: [accountId] })
  await trx.updateTable('activity_participants')
    .set({ state, was_going: false, by_account: state === 'GOING' ? false : undefined, version })
    .where('activity_id', '=', activityId).where('account_id', '=', accountId)
    .execute()
}
