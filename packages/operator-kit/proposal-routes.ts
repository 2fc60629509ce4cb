import type { FastifyInstance } from 'fastify'
import type { Kysely, Transaction } from 'kysely'
import Type from 'typebox'
import { Data, data, Enum, Id, Message, message, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import { forOperators } from './authentication.ts'
import { ProposalNotFound } from './errors.ts'
import { listProposals, proposalKinds, readProposal, withdrawProposal } from './proposals.ts'
import type { Proposal } from './proposals.ts'
import type { ProposalKind } from './tables.ts'
import type { Operator } from './rights.ts'
import type { ProposalTables } from './tables.ts'

/** What a service does with the proposals of a kind. */
export interface ProposalHandler<Tables extends ProposalTables> {
  /** Carries it out; calls `confirmProposal` in the same transaction. */
  confirm: (operator: Operator, proposal: Proposal, requestId: string) => Promise<unknown>
  /** Undoes what held meanwhile, in the transaction of the withdrawal. */
  withdraw?: (trx: Transaction<Tables>, proposal: Proposal) => Promise<unknown>
}

export interface ProposalRouteOptions<Tables extends ProposalTables> {
  db: Kysely<Tables>
  handlers: Partial<Record<ProposalKind, ProposalHandler<Tables>>>
}

/** A response of 202: another operator has to confirm it. */
export const Proposed = Data(Type.Object({ proposalId: Type.String(), expiresAt: Timestamp }))

const ProposalSchema = Type.Object({
  id: Type.String(),
  kind: Enum(proposalKinds),
  subject: Type.String(),
  accountId: Nullable(Type.String()),
  reason: Type.String(),
  payload: Type.Object({}, { additionalProperties: true }),
  proposedBy: Type.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp
})

/** Serves the proposals of a service: what one operator proposes, another one confirms. */
export async function serveProposals<Tables extends ProposalTables> (
  app: Pick<FastifyInstance, 'register'>,
  { db, handlers }: ProposalRouteOptions<Tables>
) {
  const routes: Routes<object> = async (scope) => {
    const params = Type.Object({ id: Id })

    scope.get('/operator/proposals', {
      config: forOperators('proposals.read'),
      schema: { hide: true, response: { 200: Data(Type.Object({ proposals: Type.Array(ProposalSchema) })) } }
    }, async () => {
      const proposals = await listProposals(db)
      return data({
        proposals: proposals.map(({ payload, ...rest }) => ({ ...rest, payload: { ...payload as object } }))
      })
    })

    scope.post('/operator/proposals/:id/confirm', {
      config: forOperators('proposals.decide'),
      schema: { hide: true, params, response: { 200: Message } }
    }, async ({ params, operator, id }) => {
      const proposal = await readProposal(db, params.id)
      const handler = handlers[proposal.kind]
      if (!handler) throw new ProposalNotFound()
      await handler.confirm(operator, proposal, id)
      return message('It was confirmed')
    })

    scope.post('/operator/proposals/:id/withdraw', {
      config: forOperators('proposals.decide'),
      schema: { hide: true, params, response: { 200: Message } }
    }, async ({ params, operator }) => {
      const proposal = await readProposal(db, params.id)
      await db.transaction().execute(async (trx) => {
        await handlers[proposal.kind]?.withdraw?.(trx, proposal)
        await withdrawProposal(trx, operator, proposal)
      })
      return message('It was withdrawn')
    })
  }
  await app.register(routes, {})
}
