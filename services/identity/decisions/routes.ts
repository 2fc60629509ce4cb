import Type from 'typebox'
import { Data, data, Enum, Id, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators, ProposalNotFound, Proposed, readProposal } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { CaseNotFound } from '../errors.ts'
import { confirmBan } from './bans.ts'
import { findCase } from './cases.ts'
import { decide } from './decide.ts'
import { listDecisionsForOperators, readStanding } from './queries.ts'
import { NewDecision, Standing } from './schemas.ts'

const OperatorDecision = Type.Object({
  id: Type.String(),
  caseService: Nullable(Type.String()),
  caseId: Nullable(Type.String()),
  caseVersion: Nullable(Type.Integer()),
  actions: Type.Array(Type.Object({}, { additionalProperties: true })),
  outcome: Type.String(),
  reason: Type.String(),
  statement: Type.String(),
  note: Nullable(Type.String()),
  isAutomated: Type.Boolean(),
  staffId: Nullable(Type.String()),
  confirmedBy: Nullable(Type.String()),
  reverses: Nullable(Type.String()),
  madeAt: Timestamp,
  awaits: Type.Array(Type.String(), { description: 'The services that have not carried it out yet' })
})

export const decisionRoutes: Routes<Deps> = async (app, deps) => {
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

  app.post('/operator/decisions', {
    config: forOperators('cases.decide'),
    schema: {
      hide: true,
      body: NewDecision,
      response: { 201: Data(Type.Object({ id: Type.String() })), 202: Proposed }
    }
  }, async ({ body, operator, id }, reply) => {
    const made = await decide(deps, operator, body, id)
    return 'id' in made ? reply.code(201).send(data(made)) : reply.code(202).send(data(made))
  })

  app.post('/operator/decisions/:id/confirm', {
    config: forOperators('proposals.decide'),
    schema: {
      hide: true,
      params: Type.Object({ id: Id }),
      response: { 201: Data(Type.Object({ id: Type.String() })) }
    }
  }, async ({ params, operator, id }, reply) => {
    const proposal = await readProposal(db, params.id)
    if (proposal.kind !== 'BAN') throw new ProposalNotFound()
    return reply.code(201).send(data({ id: await confirmBan(deps, operator, proposal, id) }))
  })

  app.get('/operator/decisions', {
    config: forOperators('people.read', { person: 'accountId' }),
    schema: {
      hide: true,
      querystring: Type.Object({ accountId: Id }),
      response: { 200: Data(Type.Object({ decisions: Type.Array(OperatorDecision) })) }
    }
  }, async ({ query }) => data({ decisions: await listDecisionsForOperators(db, query.accountId) }))

  // Its service names the person. The case is the reason, so these people are not counted.
  app.get('/operator/cases/:service/:id/decisions', {
    config: forOperators('cases.read'),
    schema: {
      hide: true,
      params: Type.Object({ service: Enum(['social', 'fitmatch']), id: Id }),
      response: { 200: Data(Type.Object({ decisions: Type.Array(OperatorDecision) })) }
    }
  }, async ({ params }) => {
    const found = await findCase(deps, params)
    if (!found) throw new CaseNotFound()
    return data({ decisions: await listDecisionsForOperators(db, found.accountId) })
  })
}
