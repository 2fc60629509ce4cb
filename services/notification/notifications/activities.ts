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

type ActivityFields = Pick<Type.Static<typeof ActivityInvited.data>, 'activityId' | 'sport' | 'startsAt' | 'timezone'>

/** What all notifications of activities have in common. Each event is a notification of its own. */
const about = (
  { activityId, sport, startsAt, timezone }: ActivityFields,
  kind: Kind,
  eventId: string
): Omit<NotificationRequest, 'to'> => ({
  kind,
  dedupeKey: `activity:${eventId}`,
  subjectId: activityId,
  data: { activityId },
  params: { sport, startsAt, timezone }
})

const withParams = (request: Omit<NotificationRequest, 'to'>, params: NotificationRequest['params']) => ({
  ...request,
  params: { ...request.params, ...params }
})

/** The notifications of plans to train together. */
export const activityEntries: RegistryEntry[] = [
  onEvent(ActivityInvited, ({ accountId, hostId, displayName, ...activity }, id) => [{
    ...withParams(about(activity, 'activityInvited', id), { displayName }),
    to: [accountId],
    actorId: hostId
  }]),
  onEvent(ActivityAsked, ({ hostId, askedBy, displayName, waitingCount, ...activity }, id) => [{
    ...withParams(about(activity, askedBy ? 'activityAsked' : 'activityPlaceFree', id), { displayName, waitingCount }),
    to: [hostId],
    actorId: askedBy
  }]),
  onEvent(ActivityConfirmed, ({ accountId, confirmedBy, displayName, ...activity }, id) => [{
    ...withParams(about(activity, 'activityConfirmed', id), { displayName }),
    to: [accountId],
    actorId: confirmedBy
  }]),
  onEvent(ActivityChanged, ({ accountIds, changedBy, displayName, ...activity }, id) => [{
    ...withParams(about(activity, changedBy ? 'activityChanged' : 'activityMoved', id), { displayName }),
    to: accountIds,
    actorId: changedBy
  }]),
  onEvent(ActivityCanceled, ({ notifiedIds, reason, ...activity }, id) => [{
    ...withParams(about(activity, 'activityCanceled', id), { reason }),
    to: notifiedIds
  }]),
  onEvent(ActivityReminded, ({ accountIds, hoursBefore: _, ...activity }, id) => [{
    ...about(activity, 'activityReminded', id),
    to: accountIds,
    pointlessFrom: new Date(activity.startsAt)
  }])
]
