import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { declaredLengthOf } from './bodies.ts'
import { compress } from './compression.ts'
import { createCors, handlePreflights } from './cors.ts'
import { addSecurityHeaders, isResponseHeader, type ResponseHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds to the headers of a response what every response of the gateway has. */
    addResponseHeaders: (request: FastifyRequest, headers: ResponseHeaders) => void
  }
}

/** The whole response of a service. */
export interface ServiceResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * Adds security headers, the headers of CORS and compression to every response. This is an onSend hook because a 401 or
 * 503 can come before any hook that is registered here; `respond` writes responses that do not pass it.
 */
export function prepareResponses (app: FastifyInstance, { origins }: { origins: string[] }) {
  const cors = createCors(origins)
  handlePreflights(app, cors)
  const addHeaders = (request: FastifyRequest, headers: ResponseHeaders) => {
    addSecurityHeaders(headers)
    cors.addHeaders(request, headers)
  }
  app.decorate('addResponseHeaders', addHeaders)
  app.addHook('onSend', (request, reply, payload, done) => {
    const headers: ResponseHeaders = reply.getHeaders()
    const send = (body: unknown) => {
      addHeaders(request, headers)
      reply.headers(headers)
      done(null, body)
    }
    if (typeof payload === 'string' || Buffer.isBuffer(payload)) compress(request, headers, payload, send)
    else send(payload)
  })
}

/**
 * Passes a service's response on, with one write. It does what the hooks do: docs/decisions/0025 has what that saves.
 */
export function respond (request: FastifyRequest, reply: FastifyReply, { status, headers, body }: ServiceResponse) {
  const { server, raw } = request
  // Only limits have added more so far.
  const own: ResponseHeaders = reply.hasHeader('x-ratelimit-limit')
    ? reply.getHeaders()
    : { 'x-request-id': request.id }
  for (const name in headers) if (isResponseHeader(name)) own[name] = headers[name]
  // A hook discards the rest of the request's body.
  if (!raw.complete && declaredLengthOf(raw) !== 0) return void reply.code(status).headers(own).send(body)

  if (body.length > 0) own['content-length'] = body.length
  if (server.isClosing()) own['connection'] = 'close'
  compress(request, own, body, (sent) => {
    server.addResponseHeaders(request, own)
    reply.hijack()
    reply.raw.writeHead(status, own as never)
    // Node writes a string together with the headers; a Buffer takes a second write. As latin1, a string has the bytes of
    // the buffer, whatever they mean.
    reply.raw.end(sent.toString('latin1'), 'latin1')
  })
}
