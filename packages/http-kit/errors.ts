import type { TextKey } from '@tandem/brand-kit'
import { defineError, type ErrorParams } from '@tandem/process-kit'

// Errors that any route of any service can return. A service's own errors.ts declares the errors that only it returns.

const Invalid = defineError<ErrorParams>('VALIDATION_ERROR', 400)
type Detail = TextKey extends infer Key ? Key extends `errors.VALIDATION_ERROR.${infer Detail}` ? Detail : never : never

/** An invalid request, with the text `errors.VALIDATION_ERROR.<detail>`. `details` of the response names its fields. */
export class ValidationError extends Invalid {
  override readonly textKey: string
  override readonly fields: string[]

  constructor (detail: Detail, fields: string[] = [], params: ErrorParams = {}) {
    super(params)
    this.textKey = `VALIDATION_ERROR.${detail}`
    this.message = this.textKey
    this.fields = fields
  }
}

export const Unauthorized = defineError('UNAUTHORIZED', 401)
export const InvalidAccessToken = defineError('INVALID_ACCESS_TOKEN', 401)
export const Forbidden = defineError('FORBIDDEN.forbidden', 403)
export const AccountRestricted = defineError('ACCOUNT_RESTRICTED', 403)
export const NotFound = defineError('NOT_FOUND.path', 404)
export const MethodNotAllowed = defineError('METHOD_NOT_ALLOWED', 405)
export const RequestTimeout = defineError('REQUEST_TIMEOUT.requestTimeout', 408)
/** Nobody reads it: the client is gone. */
export const ClientDisconnected = defineError('REQUEST_TIMEOUT.clientDisconnected', 408)
export const PayloadTooLarge = defineError('PAYLOAD_TOO_LARGE.payloadTooLarge', 413)
export const UnsupportedMediaType = defineError('UNSUPPORTED_MEDIA_TYPE.unsupportedMediaType', 415)
/** The response has `storeUrl`, where to get a newer version, if it is known. */
export class UpgradeRequired extends defineError('UPGRADE_REQUIRED.app', 426) {
  readonly responseFields: { storeUrl?: string }

  constructor (storeUrl?: string) {
    super()
    this.responseFields = storeUrl === undefined ? {} : { storeUrl }
  }
}
export const ServerError = defineError('SERVER_ERROR', 500)

/** The response has the header Retry-After. */
export class RateLimited extends defineError('RATE_LIMITED', 429) {
  readonly retryAfterSeconds: number
  override readonly textKey: string
  override readonly params: ErrorParams

  /** @param remedy the setting that lifts the limit, for developers on this machine */
  constructor (retryAfterSeconds = 1, remedy?: string) {
    super()
    this.retryAfterSeconds = retryAfterSeconds
    this.textKey = remedy === undefined ? 'RATE_LIMITED' : 'RATE_LIMITED.local'
    this.params = remedy === undefined ? {} : { remedy }
  }
}
