import Type from 'typebox'
import { Data, data, Enum, readIdempotencyKey, NextCursor, Nullable, PageQuery, IdempotencyHeaders, type Routes, Timestamp, preferredLanguage } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { noticeTypes } from '../inbox/kinds.ts'
import { testPush } from './actions.ts'
import { readPushLog } from './queries.ts'

const Delivery = Type.Object({
  id: Type.String(),
  notificationId: Type.String({ description: 'Also its collapse id: pushes of one notification replace each other' }),
  type: Enum(noticeTypes),
  title: Type.String(),
  body: Type.String(),
  deviceName: Nullable(Type.String()),
  platform: Enum(['android', 'ios']),
  status: Enum(['pending', 'sent', 'muted', 'held', 'pruned', 'failed']),
  reason: Nullable(Type.String({ description: 'A sentence for a developer' })),
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

export const pushRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/notifications/push/log', {
    schema: {
      summary: 'List the caller’s last pushes, and what became of them',
      description: 'Newest first, of the last 30 days: sent, muted by a preference, held until later, pruned with a dead token, failed, or still pending; with the reason.',
      'x-extension': true,
      querystring: PageQuery(),
      response: { 200: Data(Type.Object({ deliveries: Type.Array(Delivery), nextCursor: NextCursor })) }
    }
  }, async (request) => data(await readPushLog(deps.db, request.account.id, request.query, preferredLanguage(request))))

  app.post('/notifications/push/test', {
    schema: {
      summary: 'Push a word to the caller’s own devices',
      description: 'Muted categories and quiet hours do not hold it back. What came of it is in the push log.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      response: { 200: Data(Type.Object({ devices: Type.Integer({ minimum: 0, description: 'How many were tried', examples: [1] }) })) }
    }
  }, async (request) => data({ devices: await testPush(deps, request.account.id, readIdempotencyKey(request)) }))
}
