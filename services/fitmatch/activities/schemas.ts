import Type from 'typebox'
import { Timezone } from '@tandem/account-kit'
import { Body, Enum, Id, IsoDate, named, Nullable, Text, Timestamp } from '@tandem/http-kit'
import type { Media } from '@tandem/media-kit'
import { roundDegrees } from '../position.ts'
import { activityStatuses, activityVisibilities, participantStates } from '../tables.ts'
import type { ActivityRow } from './queries.ts'

const Time = Type.String({
  transform: ['trim'],
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  expectedFormat: 'startTime',
  examples: ['18:00']
})
const latitude = Type.Optional(Type.Number({ minimum: -90, maximum: 90 }))
const longitude = Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
const Capacity = Type.Integer({ minimum: 2, maximum: 20, description: 'With you' })
const Visibility = Enum(activityVisibilities, { description: 'OPEN: people nearby can ask for a place' })
const MAX_INVITED = 19
const people = Type.Optional(Type.Array(Id, { maxItems: MAX_INVITED }))

/** The people to invite. */
export const invitees = { userIds: people, profileIds: people }

const place = {
  venueId: Type.Optional(Type.String({ ...Id, description: 'One of my venues' })),
  locationName: Type.Optional(Text({ max: 200 })),
  latitude,
  longitude
}
const optional = {
  title: Type.Optional(Text({ max: 100, description: 'The name of the sport by default' })),
  timezone: Type.Optional(Timezone),
  ...place,
  note: Type.Optional(Text({ min: 0, max: 500 })),
  visibility: Type.Optional(Visibility),
  capacity: Type.Optional(Capacity)
}
const sport = Text({ max: 50, description: 'An onboarding option of type sport' })

const exampleFields = {
  title: 'Evening run',
  sport: 'running',
  date: '2026-11-28',
  startTime: '18:00',
  endTime: '19:30',
  timezone: 'Asia/Jakarta'
}
export const NewActivity = named(
  'NewActivity',
  Body({ ...optional, sport, date: IsoDate, startTime: Time, endTime: Time, ...invitees }, {
    examples: [{
      ...exampleFields,
      locationName: 'Gelora, gate 5',
      latitude: -6.2186,
      longitude: 106.8018,
      note: 'Easy pace',
      visibility: 'INVITED',
      capacity: 4,
      profileIds: ['019aa1f0-0000-7000-8000-000000000004']
    }]
  })
)
export type ActivityFields = Partial<Type.Static<typeof NewActivity>>

export const ActivityChanges = named(
  'ActivityChanges',
  Body({
    ...optional,
    sport: Type.Optional(sport),
    date: Type.Optional(IsoDate),
    startTime: Type.Optional(Time),
    endTime: Type.Optional(Time),
    version: Type.Integer({ description: 'The version that I have seen' })
  }, { examples: [{ startTime: '18:30', version: 1 }] })
)

export const Repetition = Body({ date: IsoDate, startTime: Type.Optional(Time), endTime: Type.Optional(Time) }, {
  examples: [{ date: '2026-12-05' }]
})

const ActivityVenue = named(
  'ActivityVenue',
  Type.Object({
    name: Type.String(),
    branch: Nullable(Type.String()),
    city: Nullable(Type.String()),
    latitude: Nullable(Type.Number()),
    longitude: Nullable(Type.Number())
  })
)
const Participant = named(
  'ActivityParticipant',
  Type.Object({
    user: Type.Object({
      id: Type.String({ description: 'Of others `profileId`; your own is that of your account' }),
      name: Type.String(),
      image: Nullable(Type.String())
    }),
    profileId: Type.String({ description: 'Their FitMatch profile' }),
    state: Enum(participantStates),
    wasGoing: Type.Boolean({ description: 'Went before the time or place changed, and has a reserved place' }),
    checkedInAt: Nullable(Timestamp)
  })
)

const InvitedFollower = named(
  'InvitedFollower',
  Type.Object({
    user: Type.Object({ id: Type.String({ description: 'Of their account' }), name: Type.String() }),
    state: Enum(participantStates)
  })
)

export const Activity = named(
  'Activity',
  Type.Object({
    id: Type.String(),
    title: Type.String(),
    sport: Type.String(),
    date: Type.String(),
    startTime: Type.String(),
    endTime: Type.String({ description: 'At or before `startTime`, it is on the next day' }),
    timezone: Type.String(),
    startsAt: Timestamp,
    endsAt: Timestamp,
    locationName: Nullable(Type.String(), { description: 'Null for people who do not take part' }),
    venue: Nullable(ActivityVenue, {
      description:
        'Null for people who do not take part. Its position is exact for people who go; for people who are ' +
        'invited it is rounded to 0.01°'
    }),
    area: Type.Object({
      city: Nullable(Type.String()),
      distance: Nullable(Type.Integer({ description: 'Whole kilometres, at least 1; null if hidden or unknown' }))
    }),
    note: Nullable(Type.String()),
    visibility: Visibility,
    capacity: Type.Integer(),
    goingCount: Type.Integer({
      description:
        'Taken places: everyone who goes, the host, and reserved places. To people who take part, those of the participants they see'
    }),
    status: Enum(activityStatuses),
    version: Type.Integer({ description: 'Rises when the time or the place changes' }),
    host: Nullable(
      Type.Object({
        profileId: Type.String(),
        displayName: Type.String(),
        photo: Nullable(Type.String())
      }),
      { description: 'Null if the host has left FitMatch' }
    ),
    isHost: Type.Boolean(),
    myState: Nullable(Enum(participantStates)),
    firstMeeting: Type.Boolean({ description: 'Whether I have not trained yet with somebody who takes part' }),
    hasBlockedPerson: Type.Boolean({ description: 'Whether I have blocked somebody who takes part' }),
    participants: Type.Array(Participant, { description: 'Empty for people who do not take part' }),
    invitedFollowers: Type.Array(InvitedFollower, {
      description: 'People I invited because they follow me, until they accept. Empty for everybody but the host'
    })
  }, {
    examples: [{
      id: '019aa1f0-0000-7000-8000-00000000000a',
      ...exampleFields,
      startsAt: '2026-11-28T11:00:00.000Z',
      endsAt: '2026-11-28T12:30:00.000Z',
      locationName: 'Gelora, gate 5',
      venue: { name: 'Gelora, gate 5', branch: null, city: null, latitude: -6.22, longitude: 106.8 },
      area: { city: 'Jakarta', distance: 4 },
      note: 'Easy pace',
      visibility: 'INVITED',
      capacity: 4,
      goingCount: 1,
      status: 'PLANNED',
      version: 1,
      host: {
        profileId: '019aa1f0-0000-7000-8000-000000000003',
        displayName: 'Ana',
        photo: 'https://cdn.example/fitmatch/a/a.webp'
      },
      isHost: false,
      myState: 'INVITED',
      firstMeeting: true,
      hasBlockedPerson: false,
      participants: [{
        user: {
          id: '019aa1f0-0000-7000-8000-000000000003',
          name: 'Ana',
          image: 'https://cdn.example/fitmatch/a/a.webp'
        },
        profileId: '019aa1f0-0000-7000-8000-000000000003',
        state: 'GOING',
        wasGoing: false,
        checkedInAt: null
      }],
      invitedFollowers: []
    }]
  })
)

/** An activity as a response shows it. In a repeated request the stored times are strings. */
export function toActivity (
  media: Media,
  {
    isInside: _,
    venue,
    km,
    city,
    hostProfileId,
    hostName,
    hostPhoto,
    participants,
    // A repeated request can have been answered before there was this list.
    invitedFollowers = [],
    ...row
  }: Omit<ActivityRow, 'invitedFollowers'> & Partial<Pick<ActivityRow, 'invitedFollowers'>>
) {
  const isRounded = venue !== null && row.myState !== 'GOING'
  return {
    ...row,
    // A venue may be somebody's home: its exact position is for people who have agreed to come.
    venue: isRounded
      ? { ...venue, latitude: roundDegrees(venue.latitude), longitude: roundDegrees(venue.longitude) }
      : venue,
    area: { city, distance: km === null ? null : Math.max(1, Math.round(km)) },
    host: hostProfileId === null
      ? null
      : { profileId: hostProfileId, displayName: hostName ?? '', photo: media.urlOf(hostPhoto) },
    participants: participants.map(({ id, name, image, ...rest }) => ({
      user: { id, name, image: media.urlOf(image) },
      ...rest
    })),
    invitedFollowers: invitedFollowers.map(({ id, name, state }) => ({ user: { id, name }, state }))
  }
}
