import Type from 'typebox'
import { Body, Data, data, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { noticeTypes, type NoticeType } from '../inbox/kinds.ts'
import { changePreferences, type Change } from './actions.ts'
import { readPreferences } from './queries.ts'

const forAll = <Schema extends Type.TSchema>(schema: Schema) => Object.fromEntries(noticeTypes.map((type) => [type, schema])) as Record<NoticeType, Schema>

const TimeOfDay = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', examples: ['22:00'] })
const example = {
  categories: Object.fromEntries(noticeTypes.map((type) => [type, { push: type !== 'ADMIN', inApp: true }])),
  quietHours: { enabled: true, start: '22:00', end: '07:00' }
}

const Preferences = Type.Object({
  categories: Type.Object(forAll(Type.Object({ push: Type.Boolean(), inApp: Type.Boolean() }))),
  quietHours: Type.Object({ enabled: Type.Boolean(), start: TimeOfDay, end: TimeOfDay }, { description: 'In the time zone of the caller’s profile' })
}, { examples: [example] })

const description = 'A category whose push is off sends none, one whose inApp is off does not appear in the inbox. In quiet hours a push waits for their end; those of ACCOUNT never wait.'

export const preferenceRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/notifications/preferences', {
    schema: {
      summary: 'Read what the caller wants to be told, and when',
      description,
      'x-extension': true,
      response: { 200: Data(Type.Object({ preferences: Preferences })) }
    }
  }, async ({ account }) => data({ preferences: await readPreferences(db, account.id) }))

  app.put('/notifications/preferences', {
    schema: {
      summary: 'Choose what to be told, and when',
      description: `What is left out stays as it is. ${description}`,
      'x-extension': true,
      body: Body({
        categories: Type.Optional(Body(forAll(Type.Optional(Body({ push: Type.Optional(Type.Boolean()), inApp: Type.Optional(Type.Boolean()) }))))),
        quietHours: Type.Optional(Body({ enabled: Type.Optional(Type.Boolean()), start: Type.Optional(TimeOfDay), end: Type.Optional(TimeOfDay) }))
      }, { examples: [{ categories: { ADMIN: { push: false } }, quietHours: { enabled: true, start: '22:00', end: '07:00' } }] }),
      response: { 200: Data(Type.Object({ preferences: Preferences })) }
    }
  }, async ({ body, account }) => data({ preferences: await changePreferences(db, account.id, body as Change) }))
}
