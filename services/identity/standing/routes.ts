import Type from 'typebox'
import { Data, data, Id, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { decide } from './decide.ts'
import { listDecisionsForOperators, readStanding } from './queries.ts'
import { NewDecision, Standing } from './schemas.ts'

const OperatorDecision = Type.Object({
  id: Type.String(),
  caseService: Nullable(Type.String()),
  caseId: Nullable(Type.String()),
  actions: Type.Array(Type.Object({}, { additionalProperties: true })),
  outcome: Type.String(),
  reason: Type.String(),
  statement: Type.String(),
  note: Nullable(Type.String()),
  isAutomated: Type.Boolean(),
  staffId: Nullable(Type.String()),
  reverses: Nullable(Type.String()),
  madeAt: Timestamp,
  awaits: Type.Array(Type.String(), { description: 'The services that have not carried it out yet' })
})

export const standingRoutes: Routes<Deps> = async (app, deps) => {
  const { db } = deps

  app.get('/account/standing', {
    schema: {
      operationId: 'getStanding',
      summary: 'Get my standing',
      description: 'What operators have decided about me, why, until when, and whether I can appeal.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ standing: Standing })) }
    }
  }, async ({ account }) => data({ standing: await readStanding(db, account.id) }))

  app.post(
    '/operator/decisions',
    {
      config: forOperators('cases.decide'),
      schema: { hide: true, body: NewDecision, response: { 201: Data(Type.Object({ id: Type.String() })) } }
    },
    async ({ body, operator, id }, reply) => reply.code(201).send(data({ id: await decide(deps, operator, body, id) }))
  )

  app.get('/operator/decisions', {
    config: forOperators('people.read'),
    schema: {
      hide: true,
      querystring: Type.Object({ accountId: Id }),
      response: { 200: Data(Type.Object({ decisions: Type.Array(OperatorDecision) })) }
    }
  }, async ({ query }) => data({ decisions: await listDecisionsForOperators(db, query.accountId) }))
}
