import createError from '@fastify/error'

export const NotificationNotFound = createError('NOT_FOUND', 'Notification not found', 404)
export const EmptyQuietHours = createError('VALIDATION_ERROR', 'quietHours.start and quietHours.end must differ', 400)
