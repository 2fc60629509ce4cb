import type { IncomingHttpHeaders } from 'node:http'
import { propagation } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

// What services understand. Whatever else a client sends ends here, so a header that is invented to impress a service never reaches it.
const passedOn = ['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'idempotency-key', 'if-match',
  'if-modified-since', 'if-none-match', 'range', 'user-agent'] as const

// How a socket that takes both kinds of addresses writes one of the older kind.
const plainAddress = (ip: string) => (ip.startsWith('::ffff:') ? ip.slice(7) : ip)

/** The headers of `request` as its service gets them. `length`: of the body, when it is known. */
export function headersFor (request: FastifyRequest, length: number | undefined): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = { 'x-forwarded-for': plainAddress(request.ip), 'x-request-id': request.id }
  const given = request.headers
  for (const name of passedOn) {
    const value = given[name]
    if (value !== undefined) headers[name] = value as never
  }
  if (length !== undefined) headers['content-length'] = String(length)
  propagation.inject(request.trace, headers)
  return headers
}

// They belong to the one connection they came on, or tell what a client need not know. The id is the gateway's own.
const keptBack = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade',
  'x-request-id', 'server', 'x-powered-by'])

/** Gives `reply` the headers that a service answered with. */
export function answerWith (reply: FastifyReply, headers: IncomingHttpHeaders) {
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !keptBack.has(name)) reply.header(name, value)
  }
}

const always = Object.entries({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
})

/**
 * Gives every answer the headers that make browsers careful with it, unless it has its own. They are added when an answer leaves, as
 * a refusal may come before any hook that is registered here.
 */
export function secureAnswers (app: FastifyInstance) {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    for (const [name, value] of always) if (!reply.hasHeader(name)) reply.header(name, value)
    if (!reply.hasHeader('cache-control') && !reply.hasHeader('etag')) reply.header('cache-control', 'no-store')
    done()
  })
}
