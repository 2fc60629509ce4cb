import type Type from 'typebox'
import {
  ActivityAsked,
  ActivityCanceled,
  ActivityChanged,
  ActivityConfirmed,
  ActivityInvited,
  ActivityReminded
} from '@tandem/contracts'
import type { Kind } from '../texts/kinds.ts'
import type { NotificationRequest } from './plan.ts'
import { onEvent, type RegistryEntry } from './registry-entry.ts'
import { about } from './subjects.ts'

type ActivityFields =
  & Pick<Type.Static<typeof ActivityInvited.data>, 'activityId' | 'sport' | 'startsAt' | 'timezone'>
  & {
    /** Of the person who acted. */
    profileId?: string
  }

/** What all notifications of activities have in common. Each event is a notification of its own. */
const basics = (
  { activityId, sport, startsAt, timezone, profileId }: ActivityFields,
  kind: Kind,
  eventId: string
): Omit<NotificationRequest, 'to'> => ({
  kind,
  dedupeKey: `activity:${eventId}`,
  subjects: [about.activity(activityId)],
  data: { activityId, ...profileId && { profileId } },
  params: { sport, startsAt, timezone }
})

const withParams = (request: Omit<NotificationRequest, 'to'>, params: NotificationRequest['params']) => ({
  ...request,
  params: { ...request.params, ...params }
})

/** The notifications of plans to train together. */
export const activityEntries: RegistryEntry[] = [
  onEvent(ActivityInvited, ({ accountId, hostId, displayName, ...activity }, id) => [{
    ...withParams(basics(activity, 'activityInvited', id), { displayName }),
    to: [accountId],
    actorId: hostId
  }]),
  onEvent(ActivityAsked, ({ hostId, askedBy, displayName, waitingCount, ...activity }, id) => [{
    ...withParams(basics(activity, askedBy ? 'activityAsked' : 'activityPlaceFree', id), {
      displayName,
      waitingCount
    }),
    subjects: [about.activity(activity.activityId), ...askedBy ? [] : [about.freePlaceIn(activity.activityId)]],
    to: [hostId],
    actorId: askedBy
  }]),
  onEvent(ActivityConfirmed, ({ accountId, confirmedBy, displayName, ...activity }, id) => [{
    ...withParams(basics(activity, 'activityConfirmed', id), { displayName }),
    to: [accountId],
    actorId: confirmedBy
  }]),
  onEvent(ActivityChanged, ({ accountIds, hostId, changedBy, displayName, ...activity }, id) => [{
    ...withParams(basics(activity, changedBy ? 'activityChanged' : 'activityMoved', id), { displayName }),
    to: accountIds,
    actorId: changedBy,
    ...hostId !== undefined && { ownerId: hostId }
  }]),
  onEvent(ActivityCanceled, ({ notifiedIds, reason, ...activity }, id) => [{
    ...withParams(basics(activity, 'activityCanceled', id), { reason }),
    // It is what is left of an activity. An ended place can be given again.
    subjects: reason === 'PLACE_ENDED' ? [about.lostPlaceIn(activity.activityId)] : [],
    to: notifiedIds
  }]),
  onEvent(ActivityReminded, ({ accountIds, hostId, hoursBefore: _, ...activity }, id) => [{
    ...basics(activity, 'activityReminded', id),
    to: accountIds,
    ...hostId !== undefined && { ownerId: hostId },
    pointlessFrom: new Date(activity.startsAt)
  }])
]
