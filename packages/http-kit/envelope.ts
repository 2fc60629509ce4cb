import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FastifyError } from '@fastify/error'
import { inIndonesian, isTransient, Unavailable } from '@tandem/process-kit'
import {
  InvalidAccessToken,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  ServerError,
  Unauthorized,
  UnsupportedMediaType,
  ValidationError,
  type Sentence
} from './errors.ts'
import { languageOfRequest, type Language } from './language.ts'
import { reportUndocumented } from './route-errors.ts'
import { describeErrors, type FieldError } from './validation.ts'
import type { SchemaError } from './validation-messages.ts'

type ErrorWithFields = FastifyError & { responseFields?: Record<string, unknown> }
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

interface ErrorResponse {
  code: string
  statusCode: number
  /** In English. */
  message: string
  /** Undefined for errors without a text in Indonesian. */
  indonesian?: string | undefined
}

/** Maps any thrown value to the error response for the client. Its code, status and message reveal nothing internal. */
export function toErrorResponse (thrown: unknown, validationCode = 'VALIDATION_ERROR'): ErrorResponse {
  const error: ErrorWithStatus = thrown instanceof Error ? thrown : new Error('a value that is not an error was thrown')
  const { code = '', statusCode = 500 } = error

  if ('validation' in error) {
    const { validationContext } = error as { validationContext?: string }
    // An invalid path parameter identifies nothing.
    if (validationContext === 'params' && validationCode === 'VALIDATION_ERROR') return errorResponse(new NotFound())
    return { code: validationCode, statusCode: 400, message: error.message }
  }
  if (error instanceof ValidationError) {
    return { code: validationCode, statusCode: 400, message: error.message, indonesian: textInIndonesian(error) }
  }
  if (error instanceof FastifyError && !/^(FST|FAST_JWT)_/.test(code)) {
    return errorResponse(error as FastifyError)
  }
  if (UNSTORABLE_CODES.has(code)) {
    return invalidRequest({
      en: 'The request contains a value that cannot be stored',
      id: 'Permintaan berisi nilai yang tidak dapat disimpan'
    })
  }
  if (isTransient(error)) return errorResponse(new Unavailable())

  if (code === 'FST_ERR_BAD_URL') return errorResponse(new NotFound())
  switch (statusCode) {
    case 400:
    case 406:
    case 422:
      return invalidRequest(parseError(code))
    case 404:
    case 414:
      return errorResponse(new NotFound())
    case 405:
      return errorResponse(new MethodNotAllowed())
    case 413:
      return errorResponse(new PayloadTooLarge())
    case 415:
      return errorResponse(new UnsupportedMediaType())
    case 429:
      return errorResponse(new RateLimited())
    case 503:
      return errorResponse(new Unavailable())
    default:
      return errorResponse(new ServerError())
  }
}

/** Every class that `createError` made with this code counts as an instance, and only ours has its own sentence. */
const textInIndonesian = (error: Error & { sentence?: Sentence }) => error.sentence?.id ?? inIndonesian(error)

const errorResponse = (error: FastifyError): ErrorResponse => ({
  code: error.code,
  statusCode: error.statusCode ?? 500,
  message: error.message,
  indonesian: textInIndonesian(error)
})

const invalidRequest = ({ en, id }: Sentence): ErrorResponse => ({
  code: 'VALIDATION_ERROR',
  statusCode: 400,
  message: en,
  indonesian: id
})

function parseError (code: string): Sentence {
  switch (code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return { en: 'The body is not valid JSON', id: 'Isi permintaan bukan JSON yang sah' }
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return {
        en: 'The body does not have the length that Content-Length states',
        id: 'Panjang isi permintaan berbeda dari yang disebut Content-Length'
      }
    default:
      return { en: 'The request is malformed', id: 'Permintaan ini rusak' }
  }
}

/** Sends `thrown` as an error response. Internal errors are logged and never sent to the client. */
export function sendError (error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { unauthorizedOnly, validationCode } = request.routeOptions?.config ?? {}
  const thrown = unauthorizedOnly && error instanceof InvalidAccessToken ? new Unauthorized() : error
  const { code, statusCode, message, indonesian } = toErrorResponse(thrown, validationCode)
  const language = languageOfRequest(request)
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
  const added = thrown instanceof FastifyError ? (thrown as ErrorWithFields).responseFields : undefined
  const text = language === 'id' ? indonesian ?? message : message
  const details = statusCode === 400 ? listFieldErrors(thrown, { message, text, language }) : []
  return reply.code(statusCode).type('application/json; charset=utf-8').send({
    ...failure(code, details[0]?.message ?? text),
    ...added,
    ...(details.length > 0 && { details })
  })
}

// `a`, or a list such as `a, b or c`.
const FIELDS =
  /^(?:One of )?([a-z]\w*(?:\.\w+)*(?:(?:, | or | and )[a-z]\w*(?:\.\w+)*)*) (?:must|is|are|contains?|has|of)\b/

/** The fields that a validation error is about. The English message of a ValidationError begins with its fields. */
function listFieldErrors (
  thrown: unknown,
  { message, text, language }: { message: string, text: string, language: Language }
): FieldError[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  if ('validation' in thrown) {
    const { validation, validationContext = 'body' } = thrown as {
      validation: SchemaError[],
      validationContext?: string
    }
    return describeErrors(validation, validationContext, language)
  }
  if (!('code' in thrown) || thrown.code !== 'VALIDATION_ERROR') return []
  const fields = FIELDS.exec(message)?.[1]?.split(/, | or | and /) ?? []
  return fields.map((field) => ({ field, message: text }))
}

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
      const { code, statusCode, message } = errorResponse(new ServerError())
      return reply.code(statusCode).type('application/json; charset=utf-8').send(failure(code, message))
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
