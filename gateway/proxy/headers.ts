import type { IncomingHttpHeaders } from 'node:http'
import { traceparentOf } from '@tandem/http-kit'
import type { FastifyRequest } from 'fastify'

// Every other header of a client is dropped, so a forged internal header never reaches a service.
const forwardedHeaders = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'range',
  'tus-resumable',
  'upload-length',
  'upload-metadata',
  'upload-offset',
  'user-agent',
  'x-app-version',
  'x-platform'
] as const

// A dual-stack socket reports an IPv4 address as ::ffff:a.b.c.d.
const unmapIpv4 = (ip: string) => (ip.startsWith('::ffff:') ? ip.slice(7) : ip)

/** The headers that the service receives. @param length the length of the body in bytes, if known */
export function requestHeadersFor (request: FastifyRequest, length: number | undefined): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {
    'x-forwarded-for': unmapIpv4(request.ip),
    'x-request-id': request.id,
    'traceparent': traceparentOf(request)
  }
  const given = request.headers
  for (const name of forwardedHeaders) {
    const value = given[name]
    if (value !== undefined) headers[name] = value as never
  }
  if (length !== undefined) headers['content-length'] = String(length)
  return headers
}

// Hop-by-hop headers, and headers that reveal the server. The request id is the gateway's own.
const droppedHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  'server',
  'x-powered-by'
])

/** Whether a header of a service's response reaches the client. */
export const isResponseHeader = (name: string) => !droppedHeaders.has(name)

// @fastify/helmet takes 7 % more of the gateway's CPU per request: docs/decisions/0015.
const securityHeaders = Object.entries({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
})

/** The headers of a response on its way to the client, by lower-case name. */
export type ResponseHeaders = Record<string, number | string | string[] | undefined>

/** Adds the security headers, unless the response sets its own. */
export function addSecurityHeaders (headers: ResponseHeaders) {
  for (const [name, value] of securityHeaders) headers[name] ??= value
  if (headers['etag'] === undefined) headers['cache-control'] ??= 'no-store'
}

/** Adds `name` to Vary. */
export function vary (headers: ResponseHeaders, name: string) {
  headers['vary'] = headers['vary'] === undefined ? name : `${String(headers['vary'])}, ${name}`
}
