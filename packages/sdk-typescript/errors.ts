/** Every error of the client. Switch on `code`: the API's, or `NETWORK_ERROR`, `TIMEOUT`, `ABORTED`, `INVALID_RESPONSE`. */
export class TandemError extends Error {
  override readonly name = 'TandemError'
  readonly code: string
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** The field that is wrong, where the API names one. */
  readonly field: string | undefined
  /** More about the error, where the API sends it: for example every wrong field. */
  readonly details: unknown
  /** When the request may be sent again. */
  readonly retryAfterSeconds: number | undefined
  /** Names the request in the server's logs. */
  readonly requestId: string | undefined

  constructor (message: string, { code, status = 0, field, details, headers, cause }: ErrorFields) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.field = field
    this.details = details
    this.retryAfterSeconds = headers ? readRetryAfter(headers) : undefined
    this.requestId = headers?.get('x-request-id') ?? undefined
  }
}

interface ErrorFields {
  code: string
  status?: number
  field?: string
  details?: unknown
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
  const { field, details } = error
  return new TandemError(error.error, {
    code: error.code,
    status,
    headers,
    ...(typeof field === 'string' && { field }),
    details
  })
}

const isFailure = (body: unknown): body is { error: string, code: string, field?: unknown, details?: unknown } =>
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
