import { publish } from '@tandem/bus-kit'
import { ActivityCanceled } from '@tandem/contracts'
import { chunksOf } from '@tandem/process-kit'
import { disarmBefore } from '../meetings/endings.ts'
import type { ParticipantState, Trx } from '../tables.ts'
import { findParticipant, lockActivitiesOf, setState, type LockedActivity, type Participant } from './locks.ts'
import { ACCOUNTS_PER_EVENT, eventFieldsOf, hasPlace, listAccounts, releasePlaces } from './places.ts'

const ACTIVE_STATES: ParticipantState[] = ['INVITED', 'ASKED', 'GOING']

interface Cancellation {
  /** By default all but the host. */
  notifiedIds?: string[]
  endedBy?: string
}

/** Cancels a locked activity for everyone in it. */
export async function cancelLocked (
  trx: Trx,
  activity: LockedActivity,
  { notifiedIds, endedBy }: Cancellation = {}
) {
  await trx.updateTable('activities').set({ status: 'CANCELED' }).where('id', '=', activity.id).execute()
  await trx.deleteFrom('activity_timers').where('activity_id', '=', activity.id).execute()
  const accountIds = await listAccounts(trx, activity.id, ACTIVE_STATES)
  await disarmBefore(trx, { activityId: activity.id, accountIds, endedBy })
  for (const chunk of chunksOf(accountIds, ACCOUNTS_PER_EVENT)) {
    await publish(trx, ActivityCanceled, activity.id, {
      ...eventFieldsOf(activity),
      accountIds: chunk,
      reason: 'CANCELED',
      notifiedIds: chunk.filter((accountId) => notifiedIds?.includes(accountId) ?? accountId !== activity.hostId)
    })
  }
}

interface Leaving {
  accountId: string
  own: Pick<Participant, 'state' | 'wasGoing'>
  state: 'DECLINED' | 'LEFT' | 'REMOVED'
  /** Whether it is their own decision. */
  isOwn: boolean
}

/**
 * Ends the participation of a guest in a locked activity: the one way out of it, by their own decision and by that of
 * others.
 */
export async function endParticipation (
  trx: Trx,
  activity: LockedActivity,
  { accountId, own, state, isOwn }: Leaving
) {
  await setState(trx, { activityId: activity.id, accountId, state })
  await disarmBefore(trx, { activityId: activity.id, accountIds: [accountId], endedBy: isOwn ? accountId : undefined })
  if (hasPlace(own)) await releasePlaces(trx, activity)
}

interface EndedPlace {
  accountId: string
  /** Whether they are notified, if they had a place. */
  isNotified: boolean
}

/** Ends the place, the invitation or the request of a guest in a locked activity. Returns whether there was one. */
export async function endPlace (trx: Trx, activity: LockedActivity, { accountId, isNotified }: EndedPlace) {
  const participant = await findParticipant(trx, activity.id, accountId)
  if (!participant || !ACTIVE_STATES.includes(participant.state)) return false
  await endParticipation(trx, activity, { accountId, own: participant, state: 'REMOVED', isOwn: false })
  await publish(trx, ActivityCanceled, activity.id, {
    ...eventFieldsOf(activity),
    accountIds: [accountId],
    reason: 'PLACE_ENDED',
    notifiedIds: isNotified && hasPlace(participant) ? [accountId] : []
  })
  return true
}

/**
 * Ends the places of two people in each other's activities, because `endedBy` blocked or unmatched the other. If the
 * host is then alone, the activity is canceled: the other knows where the host would be. Call it under the pair's lock.
 */
export async function endPlacesBetween (trx: Trx, endedBy: string, other: string) {
  const people = [endedBy, other]
  for (const activity of await lockActivitiesOf(trx, people, people)) {
    const guestId = activity.hostId === endedBy ? other : endedBy
    if (!await endPlace(trx, activity, { accountId: guestId, isNotified: false })) continue
    const left = await listAccounts(trx, activity.id, ACTIVE_STATES)
    if (left.length > 1) continue
    const notifiedIds = activity.hostId === endedBy ? [] : [activity.hostId]
    await cancelLocked(trx, activity, { notifiedIds, endedBy })
  }
}

/**
 * Ends all places of a person who leaves FitMatch or is suspended, and cancels what they host. Call it after the
 * person's profile is locked, so that no place can be added.
 */
export async function endPlacesOf (trx: Trx, accountId: string) {
  for (const activity of await lockActivitiesOf(trx, [accountId])) {
    if (activity.hostId === accountId) await cancelLocked(trx, activity)
    else await endPlace(trx, activity, { accountId, isNotified: false })
  }
}

/** Withdraws the open invitations of a guest who is no longer connected with the host. Places stay. */
export async function withdrawInvitations (trx: Trx, hostId: string, guestId: string) {
  for (const activity of await lockActivitiesOf(trx, [guestId], [hostId])) {
    const participant = await findParticipant(trx, activity.id, guestId)
    if (participant?.state !== 'INVITED' || hasPlace(participant)) continue
    await endPlace(trx, activity, { accountId: guestId, isNotified: false })
  }
}

/**
 * Erases the participations of an account. Its places become free, and what it hosts is canceled, so that the rows that
 * remain are no longer promises to anybody. @returns how many
 */
export async function eraseParticipations (trx: Trx, accountId: string, limit: number) {
  await endPlacesOf(trx, accountId)
  const { numDeletedRows } = await trx.deleteFrom('activity_participants').where('account_id', '=', accountId)
    .where(
      'activity_id',
      'in',
      (participants) =>
        participants.selectFrom('activity_participants').where('account_id', '=', accountId)
          .select('activity_id').limit(limit)
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
