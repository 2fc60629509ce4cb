import { createError } from '@fastify/error'

export const ProofRequired = createError('PROOF_REQUIRED', 'Confirm with your passkey first', 403)
export const DeadLetterNotFound = createError('NOT_FOUND', 'There is no such dead letter', 404)
