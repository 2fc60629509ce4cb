import Type from 'typebox'
import { WEBHOOK_TYPES } from '@tandem/contracts'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  Instant,
  Message,
  message,
  Nullable,
  Text,
  Timestamp,
  type Routes
} from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { addEndpoint, disableByOperator, enableEndpoint, replay } from './operators.ts'
import { listEndpoints, listRecentDeliveries } from './queries.ts'

const MAX_URL_CHARACTERS = 2_000

const EventType = Enum(WEBHOOK_TYPES as [typeof WEBHOOK_TYPES[number]])
const Endpoint = Type.Object({
  id: Type.String(),
  url: Type.String(),
  eventTypes: Type.Array(EventType),
  pending: Type.Integer(),
  createdAt: Timestamp,
  lastSuccessAt: Nullable(Timestamp),
  disabledAt: Nullable(Timestamp),
  disabledReason: Nullable(Type.String())
})
const Delivery = Type.Object({
  id: Type.String(),
  endpointId: Type.String(),
  messageId: Type.String(),
  type: EventType,
  status: Enum(['pending', 'sent', 'failed']),
  attempts: Type.Integer(),
  responseStatus: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  dueAt: Timestamp,
  queuedAt: Timestamp,
  finishedAt: Nullable(Timestamp)
})

const params = Type.Object({ id: Id })

/** Endpoints of other teams. */
export const webhookRoutes: Routes<Deps> = async (app, deps) => {
  const { db, webhooks } = deps

  app.get('/operator/webhooks', {
    config: forOperators('webhooks.read'),
    schema: {
      hide: true,
      response: { 200: Data(Type.Object({ endpoints: Type.Array(Endpoint), deliveries: Type.Array(Delivery) })) }
    }
  }, async () => data({ endpoints: await listEndpoints(db), deliveries: await listRecentDeliveries(db) }))

  app.post('/operator/webhooks', {
    config: forOperators('webhooks.change'),
    schema: {
      hide: true,
      body: Body({ url: Text({ max: MAX_URL_CHARACTERS }), eventTypes: Type.Array(EventType, { minItems: 1 }) }),
      response: { 201: Data(Type.Object({ id: Type.String(), secret: Type.String() })) }
    }
  }, async ({ body }, reply) => {
    const added = await addEndpoint(deps, body)
    return reply.code(201).send(data(added))
  })

  app.post('/operator/webhooks/:id/disable', {
    config: forOperators('webhooks.change'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await disableByOperator(db, id)
    return message('Nothing more is sent to it')
  })

  app.post('/operator/webhooks/:id/enable', {
    config: forOperators('webhooks.change'),
    schema: { hide: true, params, response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await enableEndpoint(db, id)
    return message('What happens from now on is sent to it')
  })

  app.post('/operator/webhooks/:id/replay', {
    config: forOperators('webhooks.change'),
    schema: {
      hide: true,
      params,
      body: Body({ since: Instant }),
      response: { 200: Data(Type.Object({ count: Type.Integer() })) }
    }
  }, async ({ params: { id }, body }) => {
    const count = await replay(db, { id, since: new Date(body.since) })
    await webhooks.enqueue([id])
    return data({ count })
  })
}
