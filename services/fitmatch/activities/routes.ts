import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  IdempotencyHeaders,
  IsoDate,
  Message,
  message,
  NextCursor,
  PageQuery,
  readIdempotencyKey,
  Text,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ActivityChanged,
  ActivityFull,
  ActivityNotFound,
  ActivityNotOver,
  ActivityOver,
  adultErrors,
  CannotInvite,
  InviteeNotFound,
  participantErrors,
  TooLateToChange,
  TooManyActivities,
  TooManyInvitations,
  TooManyMoves,
  VenueNotFound
} from '../errors.ts'
import { readAdult, readParticipant } from '../people/queries.ts'
import { parseTimeCursor, TimeCursor } from '../schemas.ts'
import { cancelActivity, createActivity, repeatActivity, updateActivity } from './actions.ts'
import { invite } from './invitations.ts'
import { activityFilters, listActivities, listNearby, readActivity, type ActivityRow } from './queries.ts'
import { Activity, ActivityChanges, invitees, NewActivity, Repetition, toActivity } from './schemas.ts'

const params = Type.Object({ id: Id })
const cursor = Type.Optional(TimeCursor)
const OneActivity = Data(Type.Object({ activity: Activity }))
const ActivityPage = Data(Type.Object({ activities: Type.Array(Activity), nextCursor: NextCursor }))

/** The activities of hosts, and how everybody reads them. */
export const activityRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media, now, minAge } = deps
  const one = (row: ActivityRow) => data({ activity: toActivity(media, row) })
  const page = ({ activities, nextCursor }: Awaited<ReturnType<typeof listActivities>>) =>
    data({ activities: activities.map((row) => toActivity(media, row)), nextCursor })

  app.post('/activities', {
    schema: {
      operationId: 'planActivity',
      summary: 'Plan to train together',
      description:
        'At a venue of mine (`venueId`) or at a place with a name. It starts 15 minutes to 90 days from now, ' +
        'and takes 15 minutes to 12 hours. I can invite my matches, my buddies and people who follow me: all of them, ' +
        'or nothing is created. People who only follow me are invited by `userIds`, and are in `invitedFollowers` ' +
        'until they accept. 10 activities and 30 invitations a day.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: NewActivity,
      errors: [
        ...adultErrors,
        VenueNotFound,
        InviteeNotFound,
        CannotInvite,
        TooManyActivities,
        TooManyInvitations,
        IdempotencyConflict
      ],
      response: { 201: OneActivity }
    }
  }, async (request, reply) =>
    reply.code(201).send(one(
      await createActivity(deps, request.account.id, request.body, readIdempotencyKey(request))
    )))

  app.get('/activities', {
    schema: {
      operationId: 'listActivities',
      summary: 'List my activities',
      description: '`upcoming`: I go, soonest first. `invitations`: I am invited or have asked for a place, soonest ' +
        'first. `past`: over or canceled, latest first.',
      'x-extension': true,
      querystring: PageQuery({ filter: Enum(activityFilters, { default: 'upcoming' }), cursor }),
      errors: participantErrors,
      response: { 200: ActivityPage }
    }
  }, async ({ query, account }) => {
    const me = await readParticipant(db, account.id)
    return page(await listActivities(db, me, { ...query, cursor: parseTimeCursor(query.cursor), now: now() }))
  })

  app.get('/activities/nearby', {
    schema: {
      operationId: 'listNearbyActivities',
      summary: 'Find open activities near me, soonest first',
      description: 'Within the maximum distance of my FitMatch profile. `from` and `to` are dates, both included.',
      'x-extension': true,
      querystring: PageQuery({
        sport: Type.Optional(Text({ max: 50 })),
        from: Type.Optional(IsoDate),
        to: Type.Optional(IsoDate),
        cursor
      }),
      errors: adultErrors,
      response: { 200: ActivityPage }
    }
  }, async ({ query: { sport, from, to, limit, ...query }, account }) => {
    const me = await readAdult({ db, minAge }, account.id)
    return page(
      await listNearby({ db, minAge }, me, {
        sport,
        from,
        to,
        limit,
        cursor: parseTimeCursor(query.cursor),
        now: now()
      })
    )
  })

  app.get('/activities/:id', {
    schema: {
      operationId: 'getActivity',
      summary: 'Get an activity',
      description: 'The place, the note and the names are only for people who take part. Of an open activity, others ' +
        'see the time, the area, the number of places and the host as discover shows them.',
      'x-extension': true,
      params,
      errors: [...participantErrors, ActivityNotFound],
      response: { 200: OneActivity }
    }
  }, async ({ params, account }) => {
    const me = await readParticipant(db, account.id)
    return one(await readActivity(db, me, params.id, now()))
  })

  app.put('/activities/:id', {
    schema: {
      operationId: 'updateActivity',
      summary: 'Change an activity that I host',
      description:
        'Omitted fields stay. A change of the time or the place raises `version`, and everyone who goes is ' +
        'asked again; their places stay reserved until two hours before the start. From then on both are final. At most ' +
        '20 such changes a day.',
      'x-extension': true,
      params,
      body: ActivityChanges,
      errors: [
        ...adultErrors,
        ActivityNotFound,
        VenueNotFound,
        ActivityChanged,
        ActivityFull,
        ActivityOver,
        TooLateToChange,
        TooManyMoves
      ],
      response: { 200: OneActivity }
    }
  }, async ({ params, body, account }) => one(await updateActivity(deps, account.id, params.id, body)))

  app.delete('/activities/:id', {
    schema: {
      operationId: 'cancelActivity',
      summary: 'Cancel an activity that I host',
      description: 'Everyone in it is notified.',
      'x-extension': true,
      params,
      errors: [...participantErrors, ActivityNotFound, ActivityOver],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await cancelActivity(deps, account.id, params.id)
    return message('The activity was canceled')
  })

  app.post('/activities/:id/invite', {
    schema: {
      operationId: 'inviteToActivity',
      summary: 'Invite people to an activity that I host',
      description:
        'My matches, my buddies and people who follow me: all of them, or nobody. People who only follow me ' +
        'are invited by `userIds`, and are in `invitedFollowers` until they accept.',
      'x-extension': true,
      params,
      body: Body(invitees, { examples: [{ profileIds: ['019aa1f0-0000-7000-8000-000000000004'] }] }),
      errors: [...adultErrors, ActivityNotFound, ActivityOver, InviteeNotFound, CannotInvite, TooManyInvitations],
      response: { 200: OneActivity }
    }
  }, async ({ params, body, account }) => one(await invite(deps, account.id, params.id, body)))

  app.post('/activities/:id/repeat', {
    schema: {
      operationId: 'repeatActivity',
      summary: 'Plan an activity again, and ask everyone again',
      description:
        'A finished or canceled one. Everyone who went is invited, except people who cannot be invited any ' +
        'more. Possible until its place is erased, 30 days after its end.',
      'x-extension': true,
      params,
      headers: IdempotencyHeaders,
      body: Repetition,
      errors: [
        ...adultErrors,
        ActivityNotFound,
        ActivityNotOver,
        ActivityOver,
        TooManyActivities,
        TooManyInvitations,
        IdempotencyConflict
      ],
      response: { 201: OneActivity }
    }
  }, async (request, reply) =>
    reply.code(201).send(one(
      await repeatActivity(deps, request.account.id, request.params.id, request.body, readIdempotencyKey(request))
    )))
}
