import { createError } from '@fastify/error'

export const CaseNotFound = createError('NOT_FOUND', 'There is no such case', 404)
export const CaseResolved = createError('CASE_CHANGED', 'This case was decided meanwhile', 409)
export const CaseClaimed = createError('CASE_CLAIMED', 'Another operator works on this case', 409)
