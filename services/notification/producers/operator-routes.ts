import { producerEventTypes } from '@tandem/contracts'
import { Body, data, Data, Enum, Id, Message, message, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import Type from 'typebox'
import type { Deps } from '../deps.ts'
import {
  addProducer,
  MAX_EVENTS_PER_SECOND,
  PRODUCER_NAME,
  revokeOldKey,
  revokeProducer,
  rotateKey
} from './actions.ts'
import { listProducers } from './queries.ts'

const params = Type.Object({ id: Id })
const Producer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  eventTypes: Type.Array(Type.String()),
  eventsPerSecond: Type.Integer(),
  droppedCount: Type.Integer(),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
  lastUsedAt: Nullable(Timestamp),
  keys: Type.Array(Type.Object({
    hint: Type.String(),
    createdAt: Timestamp,
    lastUsedAt: Nullable(Timestamp),
    isRevoked: Type.Boolean()
  }))
})

/** Systems that send events, for operators. A key is in one response only. */
export const producerOperatorRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/operator/producers', {
    config: forOperators('producers.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ producers: Type.Array(Producer) })) } }
  }, async () => data({ producers: await listProducers(db) }))

  app.post('/operator/producers', {
    config: forOperators('producers.change'),
    schema: {
      hide: true,
      body: Body({
        name: Type.String({
          pattern: PRODUCER_NAME,
          expectedFormat: 'producerName'
        }),
        eventTypes: Type.Array(Enum(producerEventTypes), { minItems: 1 }),
        eventsPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_EVENTS_PER_SECOND }))
      }),
      response: { 201: Data(Type.Object({ id: Type.String(), key: Type.String() })) }
    }
  }, async ({ body }, reply) => reply.code(201).send(data(await addProducer(db, body))))

  app.post('/operator/producers/:id/rotate', {
    config: forOperators('producers.change'),
    schema: { hide: true, params, response: { 200: Data(Type.Object({ key: Type.String() })) } }
  }, async ({ params: { id } }) => data(await rotateKey(db, id)))

  app.post('/operator/producers/:id/revoke-old-key', {
    config: forOperators('producers.change'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await revokeOldKey(db, id)
    return message('Only the newest key is valid')
  })

  app.post('/operator/producers/:id/revoke', {
    config: forOperators('producers.change'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await revokeProducer(db, id)
    return message('No key of the producer is valid')
  })
}
