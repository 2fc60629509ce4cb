import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  Message,
  message,
  Nullable,
  readBearer,
  Secret,
  Text,
  Timestamp,
  Unauthorized,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { AppealClosed, AppealExists, DecisionNotFound } from '../errors.ts'
import { callerOf } from '../sessions/caller.ts'
import { Appeal, DecisionWithoutCase } from '../decisions/schemas.ts'
import { appeal, appealOfReport } from './actions.ts'
import { answerAppeal } from './answers.ts'
import { listAppeals } from './queries.ts'
import { readAppealToken } from '../decisions/appeal-tokens.ts'

const OpenAppeal = Type.Object({
  id: Type.String(),
  decisionId: Type.String(),
  accountId: Type.String({ description: 'The account that the decision is about' }),
  isByReporter: Type.Boolean({ description: 'Whether somebody who reported it appeals that it was dismissed' }),
  text: Type.String(),
  dueAt: Timestamp,
  createdAt: Timestamp,
  caseService: Nullable(Type.String()),
  caseId: Nullable(Type.String()),
  actions: Type.Array(Type.Object({}, { additionalProperties: true })),
  reason: Type.String(),
  statement: Type.String(),
  subjectType: Nullable(Type.String()),
  excerpt: Nullable(Type.String()),
  decidedBy: Nullable(Type.String())
})

export const appealRoutes: Routes<Deps> = async (app, deps) => {
  const { db, secrets } = deps

  app.post('/account/appeals', {
    schema: {
      operationId: 'appealDecision',
      summary: 'Appeal a decision',
      description:
        'Once for each decision, within 180 days. Another operator reads it. If your report was dismissed, you can ' +
        'appeal that too, with the reportId. Without a session, send the token of the mailed link instead.',
      'x-extension': true,
      body: Body({
        decisionId: Type.Optional(Id),
        reportId: Type.Optional(Id),
        token: Type.Optional(Secret({ max: 200, description: 'Of the mail' })),
        text: Text({ max: 5000 })
      }, { examples: [{ decisionId: '019aa1f0-0000-7000-8000-000000000020', text: 'It was a quote.' }] }),
      errors: [Unauthorized, DecisionNotFound, AppealExists, AppealClosed],
      response: { 201: Data(Type.Object({ appeal: Appeal })) }
    },
    config: { public: true, unauthorizedOnly: true }
  }, async ({ body: { decisionId, reportId, token, text }, headers }, reply) => {
    if ([decisionId, reportId, token].filter((each) => each !== undefined).length !== 1) {
      throw new ValidationError('oneOfDecisionId', ['decisionId', 'reportId', 'token'])
    }
    if (token !== undefined) {
      const wanted = readAppealToken(secrets, token)
      if (wanted === undefined) throw new DecisionNotFound()
      return reply.code(201).send(data({ appeal: await appeal(db, { decisionId: wanted, text }) }))
    }
    if (headers.authorization === undefined) throw new Unauthorized()
    const caller = callerOf((await app.verifyAccessToken(readBearer(headers.authorization))).account)
    const created = reportId === undefined
      ? await appeal(db, { decisionId: decisionId!, text, caller })
      : await appealOfReport(deps, { reportId, text, caller })
    return reply.code(201).send(data({ appeal: created }))
  })

  app.get('/operator/appeals', {
    config: forOperators('appeals.decide'),
    schema: { hide: true, response: { 200: Data(Type.Object({ appeals: Type.Array(OpenAppeal) })) } }
  }, async () => data({ appeals: await listAppeals(db) }))

  app.post('/operator/appeals/:id', {
    config: forOperators('appeals.decide'),
    schema: {
      hide: true,
      params: Type.Object({ id: Id }),
      body: Body({
        outcome: Enum(['UPHELD', 'REVERSED']),
        statement: Text({ max: 2000 }),
        decision: Type.Optional(DecisionWithoutCase)
      }),
      response: { 200: Message }
    }
  }, async ({ params, body, operator, id }) => {
    await answerAppeal(deps, operator, params.id, body, id)
    return message('The appeal was answered')
  })
}
