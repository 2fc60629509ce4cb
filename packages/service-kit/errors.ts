import { createError } from '@fastify/error'

// What any route of any service may refuse with. What only one service refuses stands in that service's own errors.ts.
export const ValidationError = createError<'VALIDATION_ERROR', 400, [string?]>('VALIDATION_ERROR', '%s', 400)
export const Unauthorized = createError('UNAUTHORIZED', 'You are not signed in', 401)
export const InvalidAccessToken = createError('INVALID_ACCESS_TOKEN', 'The access token is invalid or has expired', 401)
export const Forbidden = createError('FORBIDDEN', 'You may not do this', 403)
export const NotFound = createError('NOT_FOUND', 'There is nothing at this address', 404)
export const MethodNotAllowed = createError('METHOD_NOT_ALLOWED', 'This address does not answer to that method', 405)
export const RequestTimeout = createError('REQUEST_TIMEOUT', 'The request took too long to arrive', 408)
export const PayloadTooLarge = createError('PAYLOAD_TOO_LARGE', 'The request is too large', 413)
export const UnsupportedMediaType = createError('UNSUPPORTED_MEDIA_TYPE', 'The request is of a type that is not understood here', 415)
export const RateLimited = createError('RATE_LIMITED', 'Too many requests, try again later', 429)
export const ServerError = createError('SERVER_ERROR', 'Something went wrong', 500)
export const ServiceUnavailable = createError('SERVICE_UNAVAILABLE', 'The service is not available right now, try again shortly', 503)
