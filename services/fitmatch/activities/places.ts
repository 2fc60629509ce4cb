import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { ActivityAsked, ActivityChanged, ActivityFilled } from '@tandem/contracts'
import { chunksOf } from '@tandem/process-kit'
import { ActivityFull } from '../errors.ts'
import type { ParticipantState, Trx } from '../tables.ts'
import type { LockedActivity } from './locks.ts'
import { isParticipantFor } from './visibility.ts'

// Keeps an event that names them twice below the 64 KiB limit of the bus.
export const ACCOUNTS_PER_EVENT = 500

/** The part of an activity that its events carry. None carries the place. */
export const eventFieldsOf = (
  { id, sport, startsAt, timezone }: Pick<LockedActivity, 'id' | 'sport' | 'startsAt' | 'timezone'>
) => ({
  activityId: id,
  sport,
  startsAt: startsAt.toISOString(),
  timezone
})

interface Author {
  /** Null: newer time zone data moved it. */
  changedBy: string | null
  displayName: string | null
  profileId?: string
}

/** Notifies people that the time or the place of an activity has changed. */
export async function publishChanged (trx: Trx, activity: LockedActivity, people: string[], author: Author) {
  const { id, hostId } = activity
  for (const accountIds of chunksOf(people, ACCOUNTS_PER_EVENT)) {
    await publish(trx, ActivityChanged, id, { ...eventFieldsOf(activity), hostId, accountIds, ...author })
  }
}

/** How FitMatch shows a person. */
export async function readCard (trx: Trx, accountId: string) {
  return await trx.selectFrom('profiles').where('account_id', '=', accountId)
    .select(['display_name as displayName', 'id as profileId'])
    .executeTakeFirstOrThrow()
}

/** The accounts of an activity in one of these states. */
export async function listAccounts (trx: Trx, activityId: string, states: ParticipantState[]) {
  const rows = await trx.selectFrom('activity_participants').where('activity_id', '=', activityId)
    .where('state', 'in', states)
    .select('account_id as accountId').orderBy('account_id')
    .execute()
  return rows.map(({ accountId }) => accountId)
}

/** Takes a place, if one is free. @throws ActivityFull */
export async function takePlace (trx: Trx, activityId: string) {
  const taken = await trx.updateTable('activities').set({ going_count: sql`going_count + 1` })
    .where('id', '=', activityId).where(sql<boolean>`going_count < capacity`)
    .returning(sql<boolean>`going_count = capacity`.as('isFull'))
    .executeTakeFirst()
  if (!taken) throw new ActivityFull()
  if (taken.isFull) await publish(trx, ActivityFilled, activityId, { activityId })
}

/** Whether a person in this state has a place. */
export const hasPlace = ({ state, wasGoing }: { state: ParticipantState, wasGoing: boolean }) =>
  state === 'GOING' || wasGoing

/**
 * Frees places. When a full activity has room again, its host is notified once: nobody moves up without the host's yes.
 */
export async function releasePlaces (trx: Trx, activity: LockedActivity, count = 1) {
  if (count === 0) return
  const { goingCount } = await trx.updateTable('activities').set({ going_count: sql`going_count - ${count}` })
    .where('id', '=', activity.id)
    .returning('going_count as goingCount')
    .executeTakeFirstOrThrow()
  if (goingCount + count < activity.capacity) return
  await publish(trx, ActivityAsked, activity.id, {
    ...eventFieldsOf(activity),
    hostId: activity.hostId,
    askedBy: null,
    displayName: null,
    waitingCount: await countWaiting(trx, activity)
  })
}

/** How many people that the host sees have asked for a place. */
export async function countWaiting (trx: Trx, { id, hostId }: Pick<LockedActivity, 'id' | 'hostId'>) {
  const { count } = await trx.selectFrom('activity_participants as participant')
    .where('activity_id', '=', id).where('state', '=', 'ASKED').where(isParticipantFor(hostId))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
