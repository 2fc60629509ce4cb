import { channel } from 'node:diagnostics_channel'
import type { FastifyRequest, FastifySchema } from 'fastify'
import { readBrand } from '@tandem/brand-kit'
import { Unavailable, type Described } from '@tandem/process-kit'
import {
  AccountRestricted,
  InvalidAccessToken,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  RequestTimeout,
  ServerError,
  Unauthorized,
  UnsupportedMediaType,
  UpgradeRequired,
  ValidationError
} from './errors.ts'

/** A class that `defineError` made, or one that extends it. */
export type ErrorClass = new(...args: never[]) => Error & Described & { code: string, statusCode: number }

declare module 'fastify' {
  interface FastifySchema {
    /** The errors of this route, without those that every route can return. */
    errors?: ErrorClass[]
  }
}

export interface ListedError {
  statusCode: number
  code: string
  message: string
}

interface Route {
  method: string | string[]
  schema?: FastifySchema
  config?: { public?: boolean, unauthorizedOnly?: boolean, validationCode?: string }
}

const INVALID_REQUEST = 'The request is invalid; `details` names each field'

/** Whether requests of `method` can have a body. */
export const canHaveBody = (method: string | string[]) => ![method].flat().every((each) => /^(GET|HEAD)$/i.test(each))

/** Every error that `route` can return: those that its schema lists, and those that this kit and the gateway add. */
export function listErrors ({ method, schema = {}, config = {} }: Route): ListedError[] {
  const tokenErrors = config.public
    ? []
    : config.unauthorizedOnly
    ? [Unauthorized]
    : [Unauthorized, InvalidAccessToken, AccountRestricted]
  const bodyErrors = canHaveBody(method) ? [RequestTimeout, PayloadTooLarge, UnsupportedMediaType] : []
  const own = (schema.errors ?? []).map(describeError)
  const added = [
    ...tokenErrors,
    ...(schema.params && !own.some(({ statusCode, code }) => statusCode === 404 && code === 'NOT_FOUND')
      ? [NotFound]
      : []),
    ...bodyErrors,
    UpgradeRequired,
    RateLimited,
    ServerError,
    Unavailable
  ].map(describeError)
  const invalid = [...new Set([config.validationCode ?? 'VALIDATION_ERROR', 'VALIDATION_ERROR'])].map((code) => ({
    statusCode: 400,
    code,
    message: INVALID_REQUEST
  }))
  return [...invalid, ...own, ...added]
}

/** What an error class sends, with … for the values in its text. @throws if its text is missing */
export function describeError (Class: ErrorClass): ListedError {
  if (Class === ValidationError) return { statusCode: 400, code: 'VALIDATION_ERROR', message: INVALID_REQUEST }
  const { code, statusCode, textKey } = new (Class as new(params: object) => InstanceType<ErrorClass>)({})
  const text = readBrand().brand.texts['en']?.[`errors.${textKey}`]
  if (text === undefined) throw new Error(`brand/texts/en.json lacks errors.${textKey}`)
  return { statusCode, code, message: text.replaceAll(/\{\w+\}/g, '…') }
}

const undocumentedErrors = channel('tandem.undocumented-error')

/** Reports an error that the route does not list to the tests, which fail; see `testing.ts`. */
export function reportUndocumented (request: FastifyRequest, sent: { code: string, statusCode: number }) {
  if (!undocumentedErrors.hasSubscribers) return
  const { method, url = '', schema, config } = request.routeOptions ?? {}
  if (!schema || !method || 'hide' in schema || request.is404) return
  if (listErrors({ method, schema, config }).some((each) => isSame(each, sent))) return
  undocumentedErrors.publish(
    `${String(method)} ${url} returned ${sent.statusCode} ${sent.code}, which it does not list`
  )
}

const isSame = (one: Omit<ListedError, 'message'>, other: Omit<ListedError, 'message'>) =>
  one.statusCode === other.statusCode && one.code === other.code
