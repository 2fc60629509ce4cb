import { PayloadTooLarge, RequestTimeout, ServerError, ValidationError } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Upstream } from './pools.ts'

const requestErrors = [PayloadTooLarge, RequestTimeout, ServerError, ValidationError]
const invalidRequestCodes = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

/**
 * The error for the client if `error` says nothing about the health of the service: it would fail again, and must not
 * open the breaker, or any client could open it.
 */
export function requestErrorOf (error: Error): Error | undefined {
  if (requestErrors.some((kind) => error instanceof kind)) return error
  if ('code' in error && invalidRequestCodes.has(String(error.code))) {
    return new ValidationError('requestIsNotValidHTTP')
  }
}

/** What makes a response a failure: an intermediary responds in the service's place, and not in the envelope. */
export const failureOf = (status: number): Error | undefined =>
  status === 502 || status === 504 ? new Error(`responded with ${status}`) : undefined

/** The service did not respond within the timeout of the route. */
export class ResponseTimeout extends Error {
  constructor (timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`)
  }
}

// Not of connecting: that is a failure of every route.
const isTimeout = (error: Error) =>
  error instanceof ResponseTimeout ||
  ('code' in error && ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(String(error.code)))

/**
 * Counts a failed request against the service, if the service is the cause. Returns the error for the client. A timeout
 * of a route that `isSlow` does not count for the breaker: a few large images would close a service for everyone.
 */
export function recordFailure (
  { name, breaker, countFailure }: Upstream,
  error: Error,
  { isSlow = false }: { isSlow?: boolean } = {}
): Error {
  const requestError = requestErrorOf(error)
  if (requestError) {
    breaker.ignored()
    return requestError
  }
  if (isSlow && isTimeout(error)) breaker.ignored()
  else breaker.failed()
  countFailure()
  return Object.assign(new Unavailable(), { cause: new Error(`${name} did not respond`, { cause: error }) })
}
