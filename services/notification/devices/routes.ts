import Type from 'typebox'
import { Body, ClientDetail, Enum, Nullable, Text, Timestamp, named, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { registerDevice, deleteDevice } from './actions.ts'
import { listDevices } from './queries.ts'

const MAX_TOKEN_LENGTH = 1024
const Platform = named('Platform', Enum(['android', 'ios'], { transform: ['trim', 'toLowerCase'] }))

const Device = named(
  'PushDevice',
  Type.Object({
    id: Type.String(),
    deviceId: Nullable(Type.String()),
    deviceName: Nullable(Type.String()),
    platform: Platform,
    appVersion: Nullable(Type.String()),
    lastUsed: Timestamp,
    createdAt: Timestamp
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e30',
      deviceId: '3f0c9d1e',
      deviceName: 'Pixel 12',
      platform: 'android',
      appVersion: '1.4.0',
      lastUsed: '2026-11-20T08:00:00.000Z',
      createdAt: '2026-11-01T08:00:00.000Z'
    }]
  })
)

export const deviceRoutes: Routes<Deps> = async (app, { db }) => {
  app.post('/notifications/push', {
    schema: {
      operationId: 'registerPushToken',
      summary: 'Register the push token of a device',
      description: 'A known token is updated, and moves to the caller if another account had it. ' +
        'Other tokens of the same deviceId are deleted. The token is deleted when the session ends.',
      body: Body({
        // Visible ASCII, as the providers' tokens are.
        token: Type.String({ transform: ['trim'], minLength: 1, maxLength: MAX_TOKEN_LENGTH, pattern: '^[!-~]+$' }),
        platform: Platform,
        deviceId: Type.Optional(Text({ max: 200 })),
        deviceName: Type.Optional(ClientDetail({ max: 200 })),
        appVersion: Type.Optional(ClientDetail({ max: 50 }))
      }, {
        examples: [{
          token: 'dK3x:APA91bFqz0',
          platform: 'android',
          deviceId: '3f0c9d1e',
          deviceName: 'Pixel 12',
          appVersion: '1.4.0'
        }]
      }),
      response: {
        200: Type.Object({
          success: Type.Literal(true),
          tokenId: Type.String({ examples: ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e30'] })
        })
      }
    }
  }, async ({ body, account }) => {
    const tokenId = await registerDevice(db, { accountId: account.id, sessionId: account.sessionId, ...body })
    return { success: true as const, tokenId }
  })

  app.get('/notifications/push', {
    schema: {
      operationId: 'listPushDevices',
      summary: 'List the devices that receive the caller’s pushes',
      description: 'Tokens are not returned.',
      response: { 200: Type.Object({ success: Type.Literal(true), devices: Type.Array(Device) }) }
    }
  }, async ({ account }) => ({ success: true as const, devices: await listDevices(db, account.id) }))

  app.delete(
    '/notifications/push',
    {
      schema: {
        operationId: 'deletePushToken',
        summary: 'Delete a push token',
        description: 'For use at sign-out, or when the person turns notifications off.',
        querystring: Type.Object({
          token: Type.String({ transform: ['trim'], minLength: 1, maxLength: MAX_TOKEN_LENGTH })
        }),
        response: {
          200: Type.Object({
            success: Type.Literal(true),
            deleted: Type.Integer({ minimum: 0, description: '0 if the caller has no such token', examples: [1] })
          })
        }
      }
    },
    async ({ query, account }) => ({ success: true as const, deleted: await deleteDevice(db, account.id, query.token) })
  )
}
