import Type from 'typebox'
import { Body, Data, data, named, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { EmptyQuietHours } from '../errors.ts'
import { type NotificationType, notificationTypes } from '../texts/types.ts'
import { changePreferences, type PreferencesChange } from './actions.ts'
import { readPreferences } from './queries.ts'

const forEachType = <Schema extends Type.TSchema>(schema: Schema) =>
  Object.fromEntries(notificationTypes.map((type) => [type, schema])) as Record<NotificationType, Schema>

const TimeOfDay = Type.String({
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
  expectedFormat: 'quietHour',
  examples: ['22:00']
})
const example = {
  categories: Object.fromEntries(notificationTypes.map((type) => [type, { push: type !== 'ADMIN', inApp: true }])),
  quietHours: { enabled: true, start: '22:00', end: '07:00' }
}

const Preferences = named(
  'NotificationPreferences',
  Type.Object({
    categories: Type.Object(forEachType(Type.Object({ push: Type.Boolean(), inApp: Type.Boolean() }))),
    quietHours: Type.Object({ enabled: Type.Boolean(), start: TimeOfDay, end: TimeOfDay }, {
      description: 'In the time zone of the caller’s profile'
    })
  }, { examples: [example] })
)

const description =
  'A category with push off sends no pushes. A category with inApp off does not appear in the inbox. ' +
  'During quiet hours a push waits until they end, except for ACCOUNT.'

export const preferenceRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/notifications/preferences', {
    schema: {
      operationId: 'getNotificationPreferences',
      summary: 'Read the caller’s notification preferences',
      description,
      'x-extension': true,
      response: { 200: Data(Type.Object({ preferences: Preferences })), 304: NotModified }
    }
  }, async ({ account }) => data({ preferences: await readPreferences(db, account.id) }))

  app.put(
    '/notifications/preferences',
    {
      schema: {
        operationId: 'updateNotificationPreferences',
        summary: 'Change the caller’s notification preferences',
        description: `Settings that are left out stay unchanged. ${description}`,
        'x-extension': true,
        body: Body({
          categories: Type.Optional(
            Body(
              forEachType(
                Type.Optional(Body({ push: Type.Optional(Type.Boolean()), inApp: Type.Optional(Type.Boolean()) }))
              )
            )
          ),
          quietHours: Type.Optional(
            Body({
              enabled: Type.Optional(Type.Boolean()),
              start: Type.Optional(TimeOfDay),
              end: Type.Optional(TimeOfDay)
            })
          )
        }, {
          examples: [{
            categories: { ADMIN: { push: false } },
            quietHours: { enabled: true, start: '22:00', end: '07:00' }
          }]
        }),
        errors: [EmptyQuietHours],
        response: { 200: Data(Type.Object({ preferences: Preferences })) }
      }
    },
    async ({ body, account }) =>
      data({ preferences: await changePreferences(db, account.id, body as PreferencesChange) })
  )
}
