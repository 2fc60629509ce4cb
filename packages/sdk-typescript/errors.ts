import type { FieldError } from './generated/types.gen.ts'

/**
 * Every error of the client. Switch on `code`: the API's, or `NETWORK_ERROR`, `TIMEOUT`, `ABORTED`, `INVALID_RESPONSE`,
 * `STORAGE_ERROR` (its `cause` says why).
 */
export class TandemError extends Error {
  override readonly name = 'TandemError'
  readonly code: string
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** Every field of the request that is wrong, with a sentence about it. */
  readonly details: FieldError[]
  /** Of ACCOUNT_DELETION_PENDING: `cancelAccountDeletion` takes it. */
  readonly restoreToken: string | undefined
  /** Of ACCOUNT_DELETION_PENDING: when the account is erased. */
  readonly eraseAt: string | undefined
  /** Of UPGRADE_REQUIRED: where to get a newer version, if the server knows it. */
  readonly storeUrl: string | undefined
  /** When the request may be sent again. */
  readonly retryAfterSeconds: number | undefined
  /** Names the request in the server's logs. */
  readonly requestId: string | undefined

  constructor (message: string, { code, status = 0, headers, cause, ...fields }: ErrorFields) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.details = Array.isArray(fields.details) ? fields.details : []
    this.restoreToken = textOf(fields.restoreToken)
    this.eraseAt = textOf(fields.eraseAt)
    this.storeUrl = textOf(fields.storeUrl)
    this.retryAfterSeconds = headers ? readRetryAfter(headers) : undefined
    this.requestId = headers?.get('x-request-id') ?? undefined
  }
}

/** What only some errors of the API have. */
interface OptionalFields {
  details?: unknown
  restoreToken?: unknown
  eraseAt?: unknown
  storeUrl?: unknown
}

interface ErrorFields extends OptionalFields {
  code: string
  status?: number
  headers?: Headers
  cause?: unknown
}

/** Converts what was thrown, or the body of a response that is not successful. */
export function toTandemError (error: unknown, response: Response | undefined): TandemError {
  if (error instanceof TandemError) return error
  if (!response) {
    const isAborted = error instanceof Error && error.name === 'AbortError'
    return new TandemError(isAborted ? 'The request was aborted' : 'The server cannot be reached', {
      code: isAborted ? 'ABORTED' : 'NETWORK_ERROR',
      cause: error
    })
  }
  const { status, headers } = response
  if (!isFailure(error)) {
    return new TandemError(`The response ${status} is not one of the API`, {
      code: 'INVALID_RESPONSE',
      status,
      headers,
      cause: error
    })
  }
  const { error: message, code, details, restoreToken, eraseAt, storeUrl } = error
  return new TandemError(message, { code, status, headers, details, restoreToken, eraseAt, storeUrl })
}

const textOf = (value: unknown) => typeof value === 'string' ? value : undefined

const isFailure = (body: unknown): body is OptionalFields & { error: string, code: string } =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' && 'error' in body
  && typeof body.error === 'string'

/** The seconds of a Retry-After header, which can also be a date. */
export function readRetryAfter (headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - serverTime(headers)) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** The clock of a phone can be wrong by hours. Pages of another origin cannot read the server's. */
const serverTime = (headers: Headers) => Date.parse(headers.get('date') ?? '') || Date.now()
