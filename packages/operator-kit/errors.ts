import { defineError } from '@tandem/process-kit'
export const ProofRequired = defineError('PROOF_REQUIRED.operatorProofRequired', 403)
export const NotIndependent = defineError('NOT_INDEPENDENT', 403)
export const PasskeyTooNew = defineError('PASSKEY_TOO_NEW', 403)
export const DeadLetterNotFound = defineError('NOT_FOUND.deadLetter', 404)
export const ProposalExists = defineError('PROPOSAL_EXISTS', 409)
export const ProposalNotFound = defineError('NOT_FOUND.proposal', 404)
