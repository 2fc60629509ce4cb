import createError from '@fastify/error'

export const NoticeNotFound = createError('NOT_FOUND', 'There is no such notification', 404)
export const QuietHoursEmpty = createError('VALIDATION_ERROR', 'quietHours.start and quietHours.end must differ', 400)
