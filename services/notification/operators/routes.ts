import { randomUUIDv7 } from 'node:crypto'
import { sql } from 'kysely'
import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import { insertBroadcast } from '../broadcasts/actions.ts'
import type { Deps } from '../deps.ts'
import { BroadcastNotFound } from '../errors.ts'

const Reason = Text({ min: 3, max: 500 })
const Delivery = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  platform: Type.String(),
  deviceName: Nullable(Type.String()),
  status: Type.String(),
  reason: Nullable(Type.String()),
  attempts: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp)
})
const Bilingual = Body({ en: Text({ max: 500 }), id: Text({ max: 500 }) })
const Broadcast = Type.Object({
  id: Type.String(),
  title: Bilingual,
  recipients: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp)
})

/** The deliveries of one person, and broadcasts to everybody, for operators. */
export const operatorRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/operator/deliveries', {
    config: forOperators('deliveries.read'),
    schema: {
      hide: true,
      querystring: Type.Object({ accountId: Id, reason: Reason }),
      response: { 200: Data(Type.Object({ deliveries: Type.Array(Delivery) })) }
    }
  }, async ({ query: { accountId } }) => {
    const deliveries = await db.selectFrom('deliveries')
      .innerJoin('notifications', 'notifications.id', 'deliveries.notification_id')
      .where('deliveries.account_id', '=', accountId)
      .select([
        'deliveries.id',
        'notifications.kind',
        'platform',
        'device_name as deviceName',
        'status',
        'reason',
        'attempts',
        'deliveries.created_at as createdAt',
        'finished_at as finishedAt'
      ])
      .orderBy('deliveries.id', 'desc').limit(100).execute()
    return data({ deliveries })
  })

  app.get('/operator/broadcasts', {
    config: forOperators('broadcasts.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ broadcasts: Type.Array(Broadcast) })) } }
  }, async () => {
    const broadcasts = await db.selectFrom('broadcasts')
      .select(['id', 'title', 'recipients_count as recipients', 'created_at as createdAt', 'finished_at as finishedAt'])
      .orderBy('created_at', 'desc').limit(50).execute()
    return data({ broadcasts })
  })

  app.post('/operator/broadcasts', {
    config: forOperators('broadcasts.send'),
    schema: {
      hide: true,
      body: Body({ title: Bilingual, body: Bilingual, reason: Reason }),
      response: { 201: Data(Type.Object({ id: Type.String() })) }
    }
  }, async ({ body: { title, body } }, reply) => {
    const id = randomUUIDv7()
    await insertBroadcast(db, { id, title, body }, new Date())
    return reply.code(201).send(data({ id }))
  })

  app.post('/operator/broadcasts/:id/stop', {
    config: forOperators('broadcasts.send'),
    schema: { hide: true, params: Type.Object({ id: Id }), response: { 200: Message } }
  }, async ({ params }) => {
    const stopped = await db.updateTable('broadcasts').set({ finished_at: sql`now()` }).where('id', '=', params.id)
      .where('finished_at', 'is', null).returning('id').executeTakeFirst()
    if (!stopped) throw new BroadcastNotFound()
    return message('Nobody else receives it')
  })
}
