import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Data,
  data,
  Enum,
  readIdempotencyKey,
  NextCursor,
  Nullable,
  PageQuery,
  IdempotencyHeaders,
  Timestamp,
  preferredLanguage,
  named,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { notificationTypes } from '../texts/types.ts'
import { sendTestPush } from './actions.ts'
import { readPushLog } from './queries.ts'

const Delivery = named(
  'PushDelivery',
  Type.Object({
    id: Type.String(),
    notificationId: Type.String({
      description: 'Also the collapse id: pushes of the same notification replace each other'
    }),
    type: Enum(notificationTypes),
    title: Type.String(),
    body: Type.String(),
    deviceName: Nullable(Type.String()),
    platform: Enum(['android', 'ios']),
    status: Enum(['pending', 'sent', 'muted', 'held', 'pruned', 'failed']),
    reason: Nullable(Type.String({ description: 'A sentence for developers' })),
    attempts: Type.Integer({ minimum: 0 }),
    dueAt: Timestamp,
    createdAt: Timestamp,
    finishedAt: Nullable(Timestamp)
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e40',
      notificationId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e20',
      type: 'CHAT',
      title: 'Ana',
      body: 'Ana sent you a message',
      deviceName: 'Pixel 12',
      platform: 'android',
      status: 'held',
      reason: 'quiet hours',
      attempts: 0,
      dueAt: '2026-11-21T00:00:00.000Z',
      createdAt: '2026-11-20T18:00:00.000Z',
      finishedAt: null
    }]
  })
)

export const pushRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/notifications/push/log', {
    schema: {
      operationId: 'listPushLog',
      summary: 'List the caller’s recent pushes and their results',
      description: 'Newest first, for the last 30 days: sent, muted by a preference, held until later, ' +
        'pruned with a dead token, failed, or still pending; with the reason.',
      'x-extension': true,
      querystring: PageQuery(),
      response: { 200: Data(Type.Object({ deliveries: Type.Array(Delivery), nextCursor: NextCursor })) }
    }
  }, async (request) => data(await readPushLog(deps.db, request.account.id, request.query, preferredLanguage(request))))

  app.post('/notifications/push/test', {
    schema: {
      operationId: 'sendTestPush',
      summary: 'Send a test push to the caller’s devices',
      description: 'It ignores muted categories and quiet hours. The push log shows the result.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      errors: [IdempotencyConflict],
      response: {
        200: Data(
          Type.Object({
            devices: Type.Integer({ minimum: 0, description: 'The number of devices it is sent to', examples: [1] })
          })
        )
      }
    }
  }, async (request) => data({ devices: await sendTestPush(deps, request.account.id, readIdempotencyKey(request)) }))
}
