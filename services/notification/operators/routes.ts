import Type from 'typebox'
import { Data, data, Id, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { listMailsOf } from '@tandem/mail-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { listDeliveriesOf } from './queries.ts'

const OfPerson = Type.Object({ accountId: Id, reason: Text({ min: 3, max: 500 }) })
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
const Mail = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: 'What it is about, such as `meeting-shared`' }),
  status: Type.String(),
  attempts: Type.Integer(),
  createdAt: Timestamp,
  sentAt: Nullable(Timestamp)
})

/** What one person was sent, for operators who answer them. */
export const operatorRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/operator/deliveries', {
    config: forOperators('deliveries.read', { person: 'accountId' }),
    schema: {
      hide: true,
      querystring: OfPerson,
      response: { 200: Data(Type.Object({ deliveries: Type.Array(Delivery) })) }
    }
  }, async ({ query: { accountId } }) => data({ deliveries: await listDeliveriesOf(db, accountId) }))

  app.get('/operator/mails', {
    config: forOperators('mails.read', { person: 'accountId' }),
    schema: { hide: true, querystring: OfPerson, response: { 200: Data(Type.Object({ mails: Type.Array(Mail) })) } }
  }, async ({ query: { accountId } }) => data({ mails: await listMailsOf(db, accountId) }))
}
