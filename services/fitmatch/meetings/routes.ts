import Type from 'typebox'
import { Body, Data, data, Enum, Id, Message, message, named, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import {
  ActivityNotFound,
  ActivityOver,
  adultErrors,
  MeetingNotFound,
  NoTrustedContact,
  TooManyMeetings
} from '../errors.ts'
import { armMeeting, reportSafe } from './actions.ts'
import { disarmMeeting } from './endings.ts'
import { findOwnMeeting } from './queries.ts'

const MeetingSafety = named(
  'MeetingSafety',
  Type.Object({
    status: Enum(['ARMED', 'SAFE', 'ALARMED']),
    askAt: Timestamp,
    alarmAt: Timestamp,
    contactToldAt: Nullable(Timestamp, {
      description: 'When a mail server took the mail to the contact that I have not reported back'
    }),
    contactFailedAt: Nullable(Timestamp, {
      description: 'When it was certain that the contact cannot be notified of it. Both are null while it is tried'
    })
  }, {
    examples: [{
      status: 'ARMED',
      askAt: '2026-11-28T13:00:00.000Z',
      alarmAt: '2026-11-28T13:30:00.000Z',
      contactToldAt: null,
      contactFailedAt: null
    }]
  })
)

const params = Type.Object({ id: Id })
const noEmergencyService = 'This is no emergency service: nobody watches meetings or calls for help.'

export const meetingRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/activities/:id/safety', {
    schema: {
      operationId: 'getMeetingSafety',
      summary: 'Get whether my trusted contact knows of an activity',
      description: 'Nobody else can see it.',
      'x-extension': true,
      params,
      response: {
        200: Data(Type.Object({ safety: Nullable(MeetingSafety, { description: 'Null if they do not know' }) }))
      }
    }
  }, async ({ params, account }) => data({ safety: await findOwnMeeting(db, account.id, params.id) ?? null }))

  app.post(
    '/activities/:id/safety',
    {
      schema: {
        operationId: 'armMeetingSafety',
        summary: 'Let my trusted contact know of an activity that I go to',
        description:
          'They are mailed the place, the time and who comes. Half of `minutes` after the end I get a push. If I do not ' +
          `report back within \`minutes\`, they are mailed again. ${noEmergencyService} The contact has to agree first. ` +
          'If they no longer agree, the check ends, and I am notified. I am also notified if a mail to them fails. If my ' +
          'account is closed, paused or restricted, the check ends, and they are mailed that I cannot report back. ' +
          'At most 10 a day. A repeat changes the minutes.',
        'x-extension': true,
        params,
        body: Body({ minutes: Type.Integer({ minimum: 15, maximum: 240, default: 60 }) }, {
          examples: [{ minutes: 60 }]
        }),
        errors: [...adultErrors, ActivityNotFound, ActivityOver, NoTrustedContact, TooManyMeetings],
        response: { 200: Data(Type.Object({ safety: MeetingSafety })) }
      }
    },
    async ({ params, body: { minutes }, account }) =>
      data({ safety: await armMeeting(deps, { accountId: account.id, activityId: params.id, minutes }) })
  )

  app.delete('/activities/:id/safety', {
    schema: {
      operationId: 'disarmMeetingSafety',
      summary: 'No longer expect me to report back',
      description: 'My trusted contact is not mailed. After the alarm, report that you are safe instead.',
      'x-extension': true,
      params,
      errors: [MeetingNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await disarmMeeting(db, account.id, params.id)
    return message('You need not report back')
  })

  app.post('/activities/:id/safe', {
    schema: {
      operationId: 'reportSafe',
      summary: 'Report that I am safe',
      description: 'Before the alarm there is none. After it my trusted contact gets the all-clear.',
      'x-extension': true,
      params,
      errors: [MeetingNotFound],
      response: { 200: Data(Type.Object({ safety: MeetingSafety })) }
    }
  }, async ({ params, account }) => data({ safety: await reportSafe(db, account.id, params.id) }))
}
