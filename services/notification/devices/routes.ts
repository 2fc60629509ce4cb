import Type from 'typebox'
import { Body, Enum, Nullable, Text, Timestamp, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { registerDevice, removeDevice } from './actions.ts'
import { listDevices } from './queries.ts'

const LONGEST_TOKEN = 1024
const Platform = Enum(['android', 'ios'])

const Device = Type.Object({
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

export const deviceRoutes: Routes<Deps> = async (app, { db }) => {
  app.post('/notifications/push', {
    schema: {
      summary: 'Register the push token of a device',
      description: 'A known token is brought up to date; it moves here when another account had it. Another token of the same deviceId is retired. The token goes when the session ends.',
      body: Body({
        // Visible ASCII, as the providers' tokens are.
        token: Type.String({ transform: ['trim'], minLength: 1, maxLength: LONGEST_TOKEN, pattern: '^[!-~]+$' }),
        platform: Platform,
        deviceId: Type.Optional(Text({ max: 200 })),
        deviceName: Type.Optional(Text({ min: 0, max: 200 })),
        appVersion: Type.Optional(Text({ min: 0, max: 50 }))
      }, { examples: [{ token: 'dK3x:APA91bFqz0', platform: 'android', deviceId: '3f0c9d1e', deviceName: 'Pixel 12', appVersion: '1.4.0' }] }),
      response: {
        200: Type.Object({ success: Type.Literal(true), tokenId: Type.String({ examples: ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e30'] }) })
      }
    }
  }, async ({ body, account }) => {
    const tokenId = await registerDevice(db, { accountId: account.id, sessionId: account.sessionId, ...body })
    return { success: true as const, tokenId }
  })

  app.get('/notifications/push', {
    schema: {
      summary: 'List the devices that the caller’s pushes go to',
      response: { 200: Type.Object({ success: Type.Literal(true), devices: Type.Array(Device) }) }
    }
  }, async ({ account }) => ({ success: true as const, devices: await listDevices(db, account.id) }))

  app.delete('/notifications/push', {
    schema: {
      summary: 'Take a push token away',
      querystring: Type.Object({ token: Type.String({ transform: ['trim'], minLength: 1, maxLength: LONGEST_TOKEN }) }),
      response: {
        200: Type.Object({ success: Type.Literal(true), deleted: Type.Integer({ minimum: 0, description: '0 when the caller has no such token', examples: [1] }) })
      }
    }
  }, async ({ query, account }) => ({ success: true as const, deleted: await removeDevice(db, account.id, query.token) }))
}
