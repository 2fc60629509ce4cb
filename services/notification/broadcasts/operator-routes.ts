import Type from 'typebox'
import { readBrand } from '@tandem/brand-kit'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators, Proposed } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import type { Localized } from '../tables.ts'
import { createNotifier } from '../notifications/notifier.ts'
import { listBroadcasts, sendOrPropose, sendTest, stopBroadcast } from './operators.ts'

const Stored = Type.Record(Type.String(), Type.String())
const Broadcast = Type.Object({
  id: Type.String(),
  title: Stored,
  body: Stored,
  recipients: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp),
  stoppedAt: Nullable(Timestamp, { description: 'Set if not everybody received it' })
})

/** Notifications to everybody. */
export const broadcastRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const notify = createNotifier(deps)
  const InEachLocale = Type.Unsafe<Localized>(
    Body(Object.fromEntries(readBrand().texts.locales.map((locale) => [locale, Text({ max: 500 })])))
  )

  app.get('/operator/broadcasts', {
    config: forOperators('broadcasts.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ broadcasts: Type.Array(Broadcast) })) } }
  }, async () => data({ broadcasts: await listBroadcasts(db) }))

  app.post('/operator/broadcasts', {
    config: forOperators('broadcasts.send'),
    schema: {
      hide: true,
      body: Body({ title: InEachLocale, body: InEachLocale, reason: Text({ min: 3, max: 500 }) }),
      response: { 201: Data(Type.Object({ id: Type.String() })), 202: Proposed }
    }
  }, async ({ body, operator }, reply) => {
    const sent = await sendOrPropose(deps, operator, body)
    return 'id' in sent ? reply.code(201).send(data(sent)) : reply.code(202).send(data(sent))
  })

  app.post('/operator/broadcasts/test', {
    config: forOperators('broadcasts.send'),
    schema: { hide: true, body: Body({ title: InEachLocale, body: InEachLocale }), response: { 200: Message } }
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
