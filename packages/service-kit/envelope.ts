import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { FastifyError } from '@fastify/error'
import { MethodNotAllowed, NotFound, PayloadTooLarge, RateLimited, ServerError, ServiceUnavailable, UnsupportedMediaType, ValidationError } from './errors.ts'

type Refusal = Error & { code?: string, statusCode?: number }

// A `true` or 'PUBLIC' in an answer keeps its own type, which a schema of literals asks for, and a list stays a list.
type Writable<T> = T extends Date ? T : T extends object ? { -readonly [Key in keyof T]: Writable<T[Key]> } : T

/** `{ success: true, data }`, to go with the schema `Data(…)`. */
export const data = <const T>(value: T) => ({ success: true as const, data: value as Writable<T> })

/** `{ success: true, message }`, to go with the schema `Message`. */
export const message = (text: string) => ({ success: true as const, message: text })

/** The body of every answer that is not a success. */
export const failure = (code: string, error: string) => ({ success: false as const, error, code })

// Values that cannot be stored: a NUL or broken character, a number or date out of range, a malformed uuid.
const unstorable = new Set(['22021', '22P05', '22003', '22P02', '22007', '22008'])

// Going down or starting up, out of connections, cancelled for time, a lock not had in time, a deadlock or a lost race: all pass.
const passing = new Set(['57P01', '57P02', '57P03', '53300', '57014', '55P03', '40001', '40P01',
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

// node-postgres, nats and ioredis give some of their failures no code of their own.
const passingTexts = /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error)/
const passingNames = new Set(['MaxRetriesPerRequestError'])
const passingNats = new Set(['TIMEOUT', '503', 'CONNECTION_CLOSED', 'CONNECTION_REFUSED', 'CONNECTION_DRAINING', 'DISCONNECT'])

function isTransient (error: Refusal): boolean {
  const code = typeof error.code === 'string' ? error.code : ''
  if (passing.has(code) || /^08\w{3}$/.test(code) || passingNames.has(error.name)) return true
  if (error.name === 'NatsError' && passingNats.has(code)) return true
  if (passingTexts.test(error.message)) return true
  return error.cause instanceof Error && isTransient(error.cause)
}

/** Whichever error was thrown, the one that is answered: its code, status and sentence are fit for strangers. */
export function toErrorResponse (thrown: unknown, validationCode = 'VALIDATION_ERROR'): { code: string, statusCode: number, message: string } {
  const error: Refusal = thrown instanceof Error ? thrown : new Error('not an error')
  const { code = '', statusCode = 500 } = error

  if ('validation' in error) {
    const { validationContext } = error as { validationContext?: string }
    // What cannot be a part of an address names nothing.
    if (validationContext === 'params' && validationCode === 'VALIDATION_ERROR') return refusal(new NotFound())
    return { code: validationCode, statusCode: 400, message: error.message }
  }
  if (error instanceof ValidationError) return { code: validationCode, statusCode: 400, message: error.message }
  if (error instanceof FastifyError && !/^(FST_|FAST_)/.test(code)) return { code, statusCode, message: error.message }
  if (unstorable.has(code)) return refusal(new ValidationError('The request holds a value that cannot be stored'))
  if (isTransient(error)) return refusal(new ServiceUnavailable())

  if (code === 'FST_ERR_BAD_URL') return refusal(new NotFound())
  switch (statusCode) {
    case 400: case 406: case 422: return refusal(new ValidationError(parseErrorMessage(code)))
    case 404: case 414: return refusal(new NotFound())
    case 405: return refusal(new MethodNotAllowed())
    case 413: return refusal(new PayloadTooLarge())
    case 415: return refusal(new UnsupportedMediaType())
    case 429: return refusal(new RateLimited())
    case 503: return refusal(new ServiceUnavailable())
    default: return refusal(new ServerError())
  }
}

const refusal = ({ code, statusCode, message }: { code: string, statusCode?: number, message: string }) => ({ code, statusCode: statusCode ?? 500, message })

function parseErrorMessage (code: string) {
  switch (code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY': return 'The body is not valid JSON'
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH': return 'The body is not as long as Content-Length says'
    default: return 'The request is not valid'
  }
}

/** Answers `thrown` in the envelope. Failures that are ours go to the log, and never to the client. */
export function sendError (thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { code, statusCode, message } = toErrorResponse(thrown, request.routeOptions?.config?.validationCode)
  if (statusCode === 503) {
    if (!reply.hasHeader('retry-after')) reply.header('retry-after', '1')
    request.log.warn({ err: thrown }, 'not available')
  } else if (statusCode >= 500) {
    request.log.error({ err: thrown }, 'failed')
  }
  return reply.code(statusCode).type('application/json; charset=utf-8').send(failure(code, message))
}

/** Gives `app` the envelope for errors, unknown addresses and wrong methods. */
export function answerFailures (app: FastifyInstance) {
  const routes: Array<{ method: string, pattern: RegExp }> = []
  app.addHook('onRoute', ({ method, url }) => {
    if (url.includes('*')) return
    const pattern = new RegExp(`^${url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)
    for (const each of [method].flat()) routes.push({ method: each, pattern })
  })

  app.setErrorHandler(sendError)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allowed = routes.filter(({ method, pattern }) => method !== request.method && pattern.test(path)).map(({ method }) => method)
    if (allowed.length === 0) throw new NotFound()
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    throw new MethodNotAllowed()
  })
}
