import { defineError } from '@tandem/process-kit'
export const NotificationNotFound = defineError('NOT_FOUND.notification', 404)
export const EmptyQuietHours = defineError('VALIDATION_ERROR.emptyQuietHours', 400, {
  fields: ['quietHours.start', 'quietHours.end']
})

export const EmailNotVerified = defineError('EMAIL_NOT_VERIFIED', 403)
export const ContactNotFound = defineError('NOT_FOUND.contact', 404)
export const ContactDeclined = defineError('CONTACT_DECLINED', 409)
export const ContactNeeded = defineError('CONTACT_NEEDED', 409)
export const InvalidContactLink = defineError('INVALID_TOKEN.invalidContactLink', 400)
export const TooManyContactChanges = defineError('LIMIT_EXCEEDED.tooManyContactChanges', 429)
export const TooManyContactRequests = defineError('LIMIT_EXCEEDED.tooManyContactRequests', 429)
export const ContactAskedTooOften = defineError('LIMIT_EXCEEDED.contactAskedTooOften', 429)
export const BroadcastNotFound = defineError('NOT_FOUND.broadcast', 404)
export const AppAccountMissing = defineError('APP_ACCOUNT_MISSING', 409)

export const InvalidProducerKey = defineError('UNAUTHORIZED.producerKey', 401)
/** The response has the results of all events. */
export class NoEventAccepted extends defineError('VALIDATION_ERROR.noEventAccepted', 400) {
  readonly responseFields: { results: unknown[] }

  constructor (results: unknown[] = []) {
    super()
    this.responseFields = { results }
  }
}
export const ProducerExists = defineError('PRODUCER_EXISTS', 409)
export const ProducerNotFound = defineError('NOT_FOUND.producer', 404)
export const WebhookNotFound = defineError('NOT_FOUND.webhook', 404)
export const WebhookIsDisabled = defineError('WEBHOOK_DISABLED', 409)
export const InvalidWebhookUrl = defineError('VALIDATION_ERROR.webhookUrl', 400)
