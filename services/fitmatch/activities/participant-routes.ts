import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ActivityChanged,
  ActivityFull,
  ActivityNotFound,
  ActivityOver,
  adultErrors,
  NotYet,
  participantErrors,
  ParticipantNotFound,
  TooManyJoinRequests
} from '../errors.ts'
import { checkIn, workoutClientIdOf } from './attendance.ts'
import { askToJoin, leave, respond } from './guests.ts'
import { answerRequest, removeParticipant } from './requests.ts'
import { Activity, toActivity } from './schemas.ts'
import type { ActivityRow } from './queries.ts'

const params = Type.Object({ id: Id })
const personParams = Type.Object({
  id: Id,
  userId: Type.String({ ...Id, description: 'The `user.id` of the participant, or of the invited follower' })
})
const OneActivity = Data(Type.Object({ activity: Activity }))
const guestErrors = [...adultErrors, ActivityNotFound, ActivityOver]

/** Invitations, requests and check-ins: how people get a place, and give it up. */
export const participantRoutes: Routes<Deps> = async (app, deps) => {
  const { media } = deps
  const one = (row: ActivityRow) => data({ activity: toActivity(media, row) })

  app.post('/activities/:id/respond', {
    schema: {
      operationId: 'respondToInvitation',
      summary: 'Accept or decline an invitation',
      description: '`version` is the version of the activity that I have seen. If the time or the place has changed ' +
        'since, an acceptance is refused.',
      'x-extension': true,
      params,
      body: Body({ accept: Type.Boolean(), version: Type.Integer() }, { examples: [{ accept: true, version: 1 }] }),
      errors: [...guestErrors, ActivityChanged, ActivityFull],
      response: {
        200: Data(Type.Object({ activity: Nullable(Activity, { description: 'Null if I can no longer see it' }) }))
      }
    }
  }, async ({ params, body, account }) => {
    const row = await respond(deps, account.id, params.id, body)
    return data({ activity: row && toActivity(media, row) })
  })

  app.post('/activities/:id/join', {
    schema: {
      operationId: 'askToJoin',
      summary: 'Ask for a place in an open activity',
      description: 'The host decides. At most 20 requests a day.',
      'x-extension': true,
      params,
      errors: [...guestErrors, TooManyJoinRequests],
      response: { 200: OneActivity }
    }
  }, async ({ params, account }) => {
    const row = await askToJoin(deps, account.id, params.id)
    if (!row) throw new ActivityNotFound()
    return one(row)
  })

  app.delete('/activities/:id/join', {
    schema: {
      operationId: 'leaveActivity',
      summary: 'Leave an activity, or withdraw a request',
      description: 'An invitation is declined.',
      'x-extension': true,
      params,
      errors: [...participantErrors, ActivityNotFound, ActivityOver],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await leave(deps, account.id, params.id)
    return message('You no longer take part')
  })

  app.post(
    '/activities/:id/requests/:userId',
    {
      schema: {
        operationId: 'answerJoinRequest',
        summary: 'Answer a person who asked for a place',
        description: 'If the time or the place changed after they asked, a yes invites them. A no is not announced.',
        'x-extension': true,
        params: personParams,
        body: Body({ accept: Type.Boolean() }, { examples: [{ accept: true }] }),
        errors: [...guestErrors, ParticipantNotFound, ActivityFull],
        response: { 200: OneActivity }
      }
    },
    async ({ params: { id, userId }, body: { accept }, account }) =>
      one(await answerRequest(deps, account.id, id, { userId, accept }))
  )

  app.delete('/activities/:id/participants/:userId', {
    schema: {
      operationId: 'removeParticipant',
      summary: 'Remove a person from an activity that I host',
      description: 'Or withdraw their invitation.',
      'x-extension': true,
      params: personParams,
      errors: [...participantErrors, ActivityNotFound, ActivityOver, ParticipantNotFound],
      response: { 200: OneActivity }
    }
  }, async ({ params: { id, userId }, account }) => one(await removeParticipant(deps, account.id, id, userId)))

  app.post(
    '/activities/:id/check-in',
    {
      schema: {
        operationId: 'checkIn',
        summary: 'Check in at an activity',
        description: 'From 30 minutes before the start until 12 hours after the end. No position is sent or stored. ' +
          'After the end, the dashboard logs a workout under `workoutClientId`, unless it has one. A log that the phone ' +
          'sends under this id replaces it.',
        'x-extension': true,
        params,
        errors: [...guestErrors, NotYet],
        response: {
          200: Data(Type.Object({
            checkedInAt: Timestamp,
            workoutClientId: Type.String({ examples: ['activity:019aa1f0-0000-7000-8000-00000000000a'] })
          }))
        }
      }
    },
    async ({ params, account }) =>
      data({ checkedInAt: await checkIn(deps, account.id, params.id), workoutClientId: workoutClientIdOf(params.id) })
  )
}
