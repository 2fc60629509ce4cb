import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators, Proposed } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { createNotifier } from '../notifications/notifier.ts'
import { listBroadcasts, sendOrPropose, sendTest, stopBroadcast } from './operators.ts'

const Bilingual = Body({ en: Text({ max: 500 }), id: Text({ max: 500 }) })
const Broadcast = Type.Object({
  id: Type.String(),
  title: Bilingual,
  body: Bilingual,
  recipients: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp),
  stoppedAt: Nullable(Timestamp, { description: 'Set if not everybody received it' })
})

/** Notifications to everybody. */
export const broadcastRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const notify = createNotifier(deps)

  app.get('/operator/broadcasts', {
    config: forOperators('broadcasts.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ broadcasts: Type.Array(Broadcast) })) } }
  }, async () => data({ broadcasts: await listBroadcasts(db) }))

  app.post('/operator/broadcasts', {
    config: forOperators('broadcasts.send'),
    schema: {
      hide: true,
      body: Body({ title: Bilingual, body: Bilingual, reason: Text({ min: 3, max: 500 }) }),
      response: { 201: Data(Type.Object({ id: Type.String() })), 202: Proposed }
    }
  }, async ({ body, operator }, reply) => {
    const sent = await sendOrPropose(deps, operator, body)
    return 'id' in sent ? reply.code(201).send(data(sent)) : reply.code(202).send(data(sent))
  })

  app.post('/operator/broadcasts/test', {
    config: forOperators('broadcasts.send'),
    schema: { hide: true, body: Body({ title: Bilingual, body: Bilingual }), response: { 200: Message } }
  }, async ({ body, operator }) => {
    await sendTest(notify, operator, body)
    return message('Only you received it')
  })

  app.post('/operator/broadcasts/:id/stop', {
    config: forOperators('broadcasts.send'),
    schema: { hide: true, params: Type.Object({ id: Id }), response: { 200: Message } }
  }, async ({ params }) => {
    await stopBroadcast(db, params.id)
    return message('Nobody else receives it')
  })
}
