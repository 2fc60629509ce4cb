import createError from '@fastify/error'

export const NotificationNotFound = createError('NOT_FOUND', 'Notification not found', 404)
export const EmptyQuietHours = createError('VALIDATION_ERROR', 'quietHours.start and quietHours.end must differ', 400)

export const EmailNotVerified = createError('EMAIL_NOT_VERIFIED', 'Please verify your email address first', 403)
export const ContactNotFound = createError('NOT_FOUND', 'You have no trusted contact', 404)
export const ContactDeclined = createError(
  'CONTACT_DECLINED',
  'This address has declined to be your trusted contact. Choose another person',
  409
)
export const ContactNeeded = createError(
  'CONTACT_NEEDED',
  'A safety check counts on this contact. End it first, or confirm that it ends with the contact',
  409
)
export const InvalidContactLink = createError('INVALID_TOKEN', 'This link is no longer valid', 400)
export const TooManyContactChanges = createError(
  'LIMIT_EXCEEDED',
  'You have changed your trusted contact 3 times today. Try again tomorrow',
  429
)
export const TooManyContactRequests = createError(
  'LIMIT_EXCEEDED',
  'You have asked this address 3 times within 30 days. Choose another person',
  429
)
export const BroadcastNotFound = createError('NOT_FOUND', 'There is no such broadcast, or it is finished', 404)
export const AppAccountMissing = createError(
  'APP_ACCOUNT_MISSING',
  'Your own account in the app is not known here. Ask an administrator to add it',
  409
)

export const InvalidProducerKey = createError('UNAUTHORIZED', 'This key is not valid', 401)
/** The response has the results of all events. */
export class NoEventAccepted
  extends createError('VALIDATION_ERROR', 'No event was accepted. The results say why', 400)
{
  readonly responseFields: { results: unknown[] }

  constructor (results: unknown[] = []) {
    super()
    this.responseFields = { results }
  }
}
export const ProducerExists = createError('PRODUCER_EXISTS', 'There is a producer with this name', 409)
export const ProducerNotFound = createError('NOT_FOUND', 'There is no such producer', 404)
export const WebhookNotFound = createError('NOT_FOUND', 'There is no such endpoint, or it is disabled already', 404)
export const WebhookIsDisabled = createError('WEBHOOK_DISABLED', 'The endpoint is disabled. Enable it first', 409)
export const InvalidWebhookUrl = createError(
  'VALIDATION_ERROR',
  'The url must be an https address without a password. WEBHOOK_PRIVATE_HOSTS names hosts that may be private',
  400
)
