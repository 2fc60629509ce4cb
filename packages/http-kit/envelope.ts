import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { textsOf, type LocalTexts } from '@tandem/brand-kit'
import { isDefinedError, isTransient, Unavailable, type Described } from '@tandem/process-kit'
import {
  InvalidAccessToken,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  ServerError,
  Unauthorized,
  UnsupportedMediaType,
  ValidationError
} from './errors.ts'
import { languageOfRequest } from './language.ts'
import { reportUndocumented } from './route-errors.ts'
import { describeErrors, type FieldError } from './validation.ts'
import type { SchemaError } from './validation-messages.ts'

type ErrorWithFields = { responseFields?: Record<string, unknown> }
type ErrorWithStatus = Error & { code?: string, statusCode?: number }

// A literal such as `true` or 'PUBLIC' keeps its literal type, which schemas of literals require, and an array stays an
// array.
type Writable<T> = T extends Date ? T : T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T

/** Builds `{ success: true, data }`; its schema is `Data(…)`. */
export const data = <const T>(value: T) => ({ success: true as const, data: value as Writable<T> })

/** Builds `{ success: true, message }`; its schema is `Message`. */
export const message = (text: string) => ({ success: true as const, message: text })

/** Builds the body of every error response. */
export const failure = (code: string, error: string) => ({ success: false as const, error, code })

// SQLSTATEs of values that cannot be stored: a NUL or invalid character, a number or date out of range, a malformed
// uuid.
const UNSTORABLE_CODES = new Set(['22021', '22P05', '22003', '22P02', '22007', '22008'])

interface ErrorResponse extends Described {
  code: string
  statusCode: number
}

/** Maps any thrown value to the error response for the client. Its code, status and text reveal nothing internal. */
export function toErrorResponse (thrown: unknown, validationCode = 'VALIDATION_ERROR'): ErrorResponse {
  const error: ErrorWithStatus = thrown instanceof Error ? thrown : new Error('a value that is not an error was thrown')
  const { code = '', statusCode = 500 } = error

  if ('validation' in error) {
    const { validationContext } = error as { validationContext?: string }
    // An invalid path parameter identifies nothing.
    if (validationContext === 'params' && validationCode === 'VALIDATION_ERROR') return responseOf(new NotFound())
    return { ...responseOf(new ValidationError('malformed')), code: validationCode }
  }
  if (isDefinedError(error)) {
    return { ...responseOf(error), code: error instanceof ValidationError ? validationCode : code }
  }
  if (UNSTORABLE_CODES.has(code)) return responseOf(new ValidationError('unstorable'))
  if (isTransient(error)) return responseOf(new Unavailable())

  if (code === 'FST_ERR_BAD_URL') return responseOf(new NotFound())
  switch (statusCode) {
    case 400:
    case 406:
    case 422:
      return responseOf(new ValidationError(parseErrors[code] ?? 'malformed'))
    case 404:
    case 414:
      return responseOf(new NotFound())
    case 405:
      return responseOf(new MethodNotAllowed())
    case 413:
      return responseOf(new PayloadTooLarge())
    case 415:
      return responseOf(new UnsupportedMediaType())
    case 429:
      return responseOf(new RateLimited())
    case 503:
      return responseOf(new Unavailable())
    default:
      return responseOf(new ServerError())
  }
}

const responseOf = ({ code, statusCode, textKey, params, fields }: ErrorResponse): ErrorResponse => ({
  code,
  statusCode,
  textKey,
  params,
  fields
})

const parseErrors: Record<string, 'notJson' | 'otherLength'> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'notJson',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'otherLength'
}

/** The sentence of an error; its code if there is no such text. */
export const sentenceOf = ({ code, textKey, params }: ErrorResponse, texts: LocalTexts) =>
  texts.find(`errors.${textKey}`, params) ?? code

/** What a command line says about an error: the sentence of one of ours in the default language, or its message. */
export function explainError (error: unknown) {
  if (isDefinedError(error)) return sentenceOf(error, textsOf(null))
  return error instanceof Error ? error.message : String(error)
}

/** Sends `thrown` as an error response. Internal errors are logged and never sent to the client. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { unauthorizedOnly, validationCode } = request.routeOptions?.config ?? {}
  const thrown = unauthorizedOnly && error instanceof InvalidAccessToken ? new Unauthorized() : error
  const response = toErrorResponse(thrown, validationCode)
  const { code, statusCode, fields } = response
  const texts = textsOf(languageOfRequest(request))
  const retryAfterSeconds = thrown instanceof RateLimited
    ? thrown.retryAfterSeconds
    : statusCode === 503
    ? 1
    : undefined
  if (retryAfterSeconds && !reply.hasHeader('retry-after')) reply.header('retry-after', String(retryAfterSeconds))
  reportUndocumented(request, { code, statusCode })
  if (statusCode === 503) {
    request.log.warn({ err: thrown }, 'service unavailable')
  } else if (statusCode >= 500) {
    request.log.error({ err: thrown }, 'request failed')
  }
  const added = (thrown as ErrorWithFields).responseFields
  const text = sentenceOf(response, texts)
  const details: FieldError[] = statusCode !== 400
    ? []
    : isSchemaError(thrown)
    ? describeErrors(thrown.validation, thrown.validationContext ?? 'body', texts)
    : fields.map((field) => ({ field, message: text }))
  return reply.code(statusCode).header('content-language', texts.locale).type('application/json; charset=utf-8').send({
    ...failure(code, details[0]?.message ?? text),
    ...added,
    ...(details.length > 0 && { details })
  })
}

const isSchemaError = (thrown: unknown): thrown is { validation: SchemaError[], validationContext?: string } =>
  typeof thrown === 'object' && thrown !== null && 'validation' in thrown

/** Makes `app` send the error envelope for errors, unknown paths and unsupported methods. */
export function handleErrors (app: FastifyInstance) {
  const routes: Array<{ method: string, pattern: RegExp }> = []
  app.addHook('onRoute', ({ method, url }) => {
    if (url.includes('*')) return
    const pattern = new RegExp(`^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)
    for (const each of [method].flat()) routes.push({ method: each, pattern })
  })

  app.setErrorHandler((thrown, request, reply) => {
    try {
      return sendError(thrown, request, reply)
    } catch {
      // Fastify itself would send the code and the message of what failed meanwhile.
      const response = responseOf(new ServerError())
      return reply.code(response.statusCode).type('application/json; charset=utf-8')
        .send(failure(response.code, sentenceOf(response, textsOf(null))))
    }
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = routes.filter(({ method, pattern }) => method !== request.method && pattern.test(path)).map((
      { method }
    ) => method)
    if (allowed.length === 0) throw new NotFound()
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    throw new MethodNotAllowed()
  })
}
