import { createError } from '@fastify/error'

export const ProofRequired = createError('PROOF_REQUIRED', 'Confirm with your passkey first', 403)
export const NotIndependent = createError(
  'NOT_INDEPENDENT',
  'Nobody confirms what was proposed by the operator who invited them, or by an operator they invited',
  403
)
export const PasskeyTooNew = createError(
  'PASSKEY_TOO_NEW',
  'Your passkey is too new to confirm what others propose. Try again on the day after you created it',
  403
)
export const DeadLetterNotFound = createError('NOT_FOUND', 'There is no such dead letter', 404)
export const ProposalExists = createError(
  'PROPOSAL_EXISTS',
  'This is proposed already, and waits for another operator',
  409
)
export const ProposalNotFound = createError('NOT_FOUND', 'There is no such open proposal', 404)
