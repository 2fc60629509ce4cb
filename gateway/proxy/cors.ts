import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { vary, type ResponseHeaders } from './headers.ts'
import { BASE_PATH } from '../routes.ts'

const ALLOWED_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const ALLOWED_HEADERS =
  'authorization, content-type, idempotency-key, accept-language, if-none-match, last-event-id, tus-resumable, ' +
  'upload-length, upload-metadata, upload-offset, x-app-version, x-platform'
const EXPOSED_HEADERS =
  'deprecation, etag, location, retry-after, sunset, tus-resumable, upload-expires, upload-length, upload-offset, ' +
  'x-ignored-fields, x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset'
const MAX_AGE_SECONDS = '600'

// @fastify/cors takes 3 % more of the gateway's CPU per request, and the Vary of a service's response would overwrite the
// one it sets: docs/decisions/0015.

/** Which pages can call the API. */
export interface Cors {
  isAllowed(origin: string | undefined): origin is string
  /** Lets the page that sent `request` read the response, if it is allowed to. */
  addHeaders(request: FastifyRequest, headers: ResponseHeaders): void
}

/** @param origins the origins of the pages; `*`: any */
export function createCors (origins: string[]): Cors {
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (origins.includes('*') || origins.includes(origin))
  return {
    isAllowed,
    addHeaders (request, headers) {
      if (origins.length === 0) return
      vary(headers, 'Origin')
      const { origin } = request.headers
      if (!isAllowed(origin)) return
      headers['access-control-allow-origin'] = origin
      headers['access-control-expose-headers'] = EXPOSED_HEADERS
    }
  }
}

/** Handles OPTIONS. */
export function handlePreflights (app: FastifyInstance, { isAllowed }: Cors) {
  const handleOptions = async (request: FastifyRequest, reply: FastifyReply) => {
    const { origin } = request.headers
    if (isAllowed(origin) && request.headers['access-control-request-method'] !== undefined) {
      reply.headers({
        'access-control-allow-methods': ALLOWED_METHODS,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': MAX_AGE_SECONDS
      })
    }
    return reply.code(204).header('allow', `${ALLOWED_METHODS}, OPTIONS`).send()
  }
  app.options(`${BASE_PATH}/*`, { config: { public: true } }, handleOptions)
}
