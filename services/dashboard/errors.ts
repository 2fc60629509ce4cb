import createError from '@fastify/error'

export const LogNotFound = createError('NOT_FOUND', 'Log not found', 404)
export const ProgramNotFound = createError('NOT_FOUND', 'Program not found', 404)
export const TooManyPrograms = createError(
  'LIMIT_EXCEEDED',
  'You have reached the maximum number of programs. Delete one first.',
  400
)
