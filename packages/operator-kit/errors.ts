import { createError } from '@fastify/error'

export const ProofRequired = createError('PROOF_REQUIRED', 'Confirm with your passkey first', 403)
export const DeadLetterNotFound = createError('NOT_FOUND', 'There is no such dead letter', 404)
export const ProposalExists = createError(
  'PROPOSAL_EXISTS',
  'This is proposed already, and waits for another operator',
  409
)
export const ProposalNotFound = createError('NOT_FOUND', 'There is no such open proposal', 404)
