// What fitmatch publishes and provides about training together: activities, and the meetings that a trusted contact knows of.
import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Day, Id, Nullable, Timestamp } from './schemas.ts'

/** A plan to train together, without its place. Clients show `startsAt` in `timezone`. */
const activity = {
  activityId: Id,
  sport: Type.String(),
  startsAt: Timestamp,
  timezone: Type.String()
}
/** How FitMatch shows the person who acted. Notifications name the profile, never the account. */
const displayName = Type.String()
const profileId = Type.Optional(Id)
const hostId = Type.Optional(Id)

export const ActivityInvited = defineEvent(
  'fitmatch.activity.invited.v1',
  Type.Object({ ...activity, accountId: Id, hostId: Id, displayName, profileId })
)

/** Somebody asks the host for a place, or a full activity has a free place again. */
export const ActivityAsked = defineEvent(
  'fitmatch.activity.asked.v1',
  Type.Object({
    ...activity,
    hostId: Id,
    /** Null if a place became free. */
    askedBy: Nullable(Id),
    displayName: Nullable(displayName),
    profileId,
    /** How many people are waiting for an answer of the host. */
    waitingCount: Type.Integer({ minimum: 0 })
  })
)

/** A guest has a place: the guest is notified if the host agreed last, otherwise the host. */
export const ActivityConfirmed = defineEvent(
  'fitmatch.activity.confirmed.v1',
  Type.Object({ ...activity, accountId: Id, confirmedBy: Id, displayName, profileId })
)

/**
 * The time or the place of an activity changed. Unless `changedBy` is null, `accountIds` are asked again. Several events
 * name the people of a large activity.
 */
export const ActivityChanged = defineEvent(
  'fitmatch.activity.changed.v1',
  Type.Object({
    ...activity,
    hostId,
    accountIds: Type.Array(Id, { minItems: 1 }),
    /** Null if new time zone data moved the start, while the time on the clock stays. */
    changedBy: Nullable(Id),
    displayName: Nullable(displayName),
    profileId
  })
)

/** The sport or the start of an activity is another than before. It says nothing about the people who take part. */
export const ActivityEdited = defineEvent('fitmatch.activity.edited.v1', Type.Object(activity))

/** The last free place of an activity was taken, or its host withdrew it. */
export const ActivityFilled = defineEvent('fitmatch.activity.filled.v1', Type.Object({ activityId: Id }))

/**
 * A guest's part in an activity is another than before: an invitation or a request was answered or withdrawn, or a place
 * was given, reserved or given up. What was reported of it before is obsolete.
 */
export const ParticipationChanged = defineEvent(
  'fitmatch.participation.changed.v1',
  Type.Object({ activityId: Id, accountIds: Type.Array(Id, { minItems: 1 }) })
)

/**
 * An activity was canceled, or some of its people lost their place. Earlier notifications of it are obsolete. Several
 * events name the people of a large activity.
 */
export const ActivityCanceled = defineEvent(
  'fitmatch.activity.canceled.v1',
  Type.Object({
    ...activity,
    accountIds: Type.Array(Id, { minItems: 1 }),
    reason: Type.Enum(['CANCELED', 'PLACE_ENDED']),
    /** Which of `accountIds` are notified. */
    notifiedIds: Type.Array(Id)
  })
)

export const ActivityReminded = defineEvent(
  'fitmatch.activity.reminded.v1',
  Type.Object({
    ...activity,
    hostId,
    accountIds: Type.Array(Id, { minItems: 1 }),
    hoursBefore: Type.Integer({ minimum: 1 })
  })
)

/** A person who had checked in was there until the end. Published once for each person. */
export const ActivityAttended = defineEvent(
  'fitmatch.activity.attended.v1',
  Type.Object({ ...activity, accountId: Id, title: Type.String(), endsAt: Timestamp })
)

/**
 * An activity as the posts of a person show it who takes part in it; null if the account takes part in none with this id.
 * Only the host can show others the place.
 */
export const ActivitySnapshot = defineRpc('fitmatch.activity.snapshot.v1', {
  request: Type.Object({ accountId: Id, activityId: Id }),
  response: Nullable(Type.Object({
    id: Id,
    title: Type.String(),
    sport: Type.String(),
    date: Day,
    startTime: Type.String(),
    startsAt: Timestamp,
    locationName: Nullable(Type.String()),
    /** How many, with the host. */
    participants: Type.Integer(),
    /** Whether people can ask for a place, and one is free. */
    isOpen: Type.Boolean()
  }))
})

/** A participant of an activity lets their trusted contact know of it. It carries ids only: `MeetingDetails` has the rest. */
const meeting = Type.Object({ meetingId: Id, activityId: Id, accountId: Id })
export const MeetingShared = defineEvent(
  'fitmatch.meeting.shared.v1',
  // The version of the activity, if the contact received an earlier one, with another place or time.
  Type.Object({ ...meeting.properties, version: Type.Optional(Type.Integer()) })
)
/** The activity is over, and the person has not reported back yet. */
export const MeetingAsked = defineEvent('fitmatch.meeting.asked.v1', meeting)
/** The person has not reported back in time. Their contact is to be notified, and has not been yet. */
export const MeetingOverdue = defineEvent('fitmatch.meeting.overdue.v1', meeting)
/** The person has reported back after all. */
export const MeetingCleared = defineEvent('fitmatch.meeting.cleared.v1', meeting)
/** A mail server has taken the alarm for the contact. */
export const MeetingContactTold = defineEvent('fitmatch.meeting.told.v1', meeting)
/** The contact could not be notified of the activity, or of the alarm, and no further attempt follows. */
export const MeetingContactNotTold = defineEvent(
  'fitmatch.meeting.not-told.v1',
  Type.Object({ ...meeting.properties, isAlarm: Type.Boolean() })
)
/** Nobody expects the person to report back any more, and the person did not end it: no contact, or no place. */
export const MeetingDisarmed = defineEvent(
  'fitmatch.meeting.disarmed.v1',
  Type.Object({ ...meeting.properties, reason: Type.Enum(['CONTACT_ENDED', 'PLACE_ENDED']) })
)
/** The person can no longer report back: their account is closed, paused or restricted. The contact learns of it. */
export const MeetingEnded = defineEvent('fitmatch.meeting.ended.v1', meeting)
/** The same after the alarm. The contact learns of it; the meeting stays, for the all-clear once the person is back. */
export const MeetingSilenced = defineEvent('fitmatch.meeting.silenced.v1', meeting)

/** The person has reported back, before or after the alarm, or has ended the meeting. Nothing waits for them any more. */
export const MeetingFinished = defineEvent('fitmatch.meeting.finished.v1', meeting)

/** How many meetings of an account are armed now. */
export const ArmedMeetings = defineRpc('fitmatch.armed-meetings.v1', {
  request: Type.Object({ accountId: Id }),
  response: Type.Integer({ minimum: 0 })
})

/** What is known of a person at an activity; NONE if nobody expects them to report back. */
export const MeetingStatus = defineRpc('fitmatch.meeting-status.v1', {
  request: Type.Object({ accountId: Id, activityId: Id }),
  response: Type.Enum(['ARMED', 'SAFE', 'ALARMED', 'NONE'])
})

/** Where and when a person trains with others, for mails to their trusted contact; null if the activity is gone. */
export const MeetingDetails = defineRpc('fitmatch.meeting.v1', {
  request: Type.Object({ meetingId: Id }),
  response: Nullable(Type.Object({
    title: Type.String(),
    timezone: Type.String(),
    startsAt: Timestamp,
    endsAt: Timestamp,
    locationName: Nullable(Type.String()),
    branch: Nullable(Type.String()),
    city: Nullable(Type.String()),
    latitude: Nullable(Type.Number()),
    longitude: Nullable(Type.Number()),
    /** How FitMatch shows the others who go. */
    companions: Type.Array(Type.String())
  }))
})
