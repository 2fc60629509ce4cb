import createError from '@fastify/error'

export const LogNotFound = createError('NOT_FOUND', 'There is no such log', 404)
export const ProgramNotFound = createError('NOT_FOUND', 'There is no such program', 404)
export const TooManyPrograms = createError('LIMIT_EXCEEDED', 'You have as many programs as one can have; delete one first', 400)
