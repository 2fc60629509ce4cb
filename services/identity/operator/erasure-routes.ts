import Type from 'typebox'
import { Body, Data, data, Id, Message, message, Nullable, Text, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators, Proposed } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { changeHoldOrPropose, eraseOrPropose } from './erasure-proposals.ts'
import { ErasureNotFound } from '../errors.ts'
import { findErasure } from '../erasures/queries.ts'
import { listErasures } from './erasures.ts'
import { cancelExportOf, listExports } from './exports.ts'

const Reason = Text({ min: 3, max: 500, description: 'The case, or why' })
const Erasure = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  status: Type.String(),
  cause: Type.String(),
  eraseAt: Timestamp,
  holdReason: Nullable(Type.String()),
  heldUntil: Nullable(Timestamp)
})
const Counts = Type.Record(Type.String(), Type.Integer())
const Confirmation = Type.Object({
  service: Type.String(),
  rows: Counts,
  files: Type.Integer(),
  kept: Type.Integer(),
  confirmedAt: Timestamp
})
const Export = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  status: Type.String(),
  progress: Type.Integer(),
  bytes: Nullable(Type.Integer()),
  requestedAt: Timestamp
})

/** Deletions of accounts, their holds, and people's copies of their data, for operators. */
export const erasureOperatorRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps
  const params = Type.Object({ id: Id })

  app.get('/operator/erasures', {
    config: forOperators('erasures.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ erasures: Type.Array(Erasure) })) } }
  }, async () => data({ erasures: await listErasures(db) }))

  app.get('/operator/erasures/:id', {
    config: forOperators('erasures.read'),
    schema: {
      hide: true,
      params,
      response: { 200: Data(Type.Object({ erasure: Erasure, confirmations: Type.Array(Confirmation) })) }
    }
  }, async ({ params: { id } }) => {
    const found = await findErasure(db, id)
    if (!found) throw new ErasureNotFound()
    const { confirmations, ...erasure } = found
    return data({ erasure, confirmations })
  })

  app.post('/operator/erasures', {
    config: forOperators('erasures.change'),
    schema: {
      hide: true,
      body: Body({ accountId: Id, days: Type.Integer({ minimum: 0, maximum: 28 }), reason: Reason }),
      response: { 201: Data(Type.Object({ id: Type.String(), eraseAt: Timestamp })), 202: Proposed }
    }
  }, async ({ body, operator }, reply) => {
    const scheduled = await eraseOrPropose(deps, operator, body)
    return 'id' in scheduled ? reply.code(201).send(data(scheduled)) : reply.code(202).send(data(scheduled))
  })

  app.post('/operator/erasures/:id/hold', {
    config: forOperators('holds.change'),
    schema: {
      hide: true,
      params,
      body: Body({ days: Type.Integer({ minimum: 1, maximum: 365 }), reason: Reason }),
      response: { 200: Message, 202: Proposed }
    }
  }, async ({ params: { id }, body, operator }, reply) => {
    const proposed = await changeHoldOrPropose(deps, operator, id, { change: 'HOLD', hold: body })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The deletion is held'))
  })

  app.post('/operator/erasures/:id/release', {
    config: forOperators('holds.change'),
    schema: { hide: true, params, body: Body({ reason: Reason }), response: { 200: Message, 202: Proposed } }
  }, async ({ params: { id }, body: { reason }, operator }, reply) => {
    const proposed = await changeHoldOrPropose(deps, operator, id, { change: 'RELEASE', reason })
    return proposed ? reply.code(202).send(data(proposed)) : reply.code(200).send(message('The deletion goes on'))
  })

  app.get('/operator/exports', {
    config: forOperators('erasures.read'),
    schema: { hide: true, response: { 200: Data(Type.Object({ exports: Type.Array(Export) })) } }
  }, async () => data({ exports: await listExports(db) }))

  app.post('/operator/exports/:id/cancel', {
    config: forOperators('erasures.change'),
    schema: { hide: true, params, body: Body({ reason: Reason }), response: { 200: Message } }
  }, async ({ params: { id } }) => {
    await cancelExportOf(db, id)
    return message('The copy is canceled')
  })
}
