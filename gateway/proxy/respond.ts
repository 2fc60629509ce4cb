import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { declaredLengthOf } from './bodies.ts'
import { compress } from './compression.ts'
import { createCors, handlePreflights } from './cors.ts'
import { addSecurityHeaders, isResponseHeader, type ResponseHeaders } from './headers.ts'
import { createHeldBytes, type HeldBytes } from './held-bytes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds to the headers of a response what every response of the gateway has. */
    addResponseHeaders: (request: FastifyRequest, headers: ResponseHeaders) => void
    /** What slow clients hold of bodies and responses up to 4 MiB. */
    heldBytes: HeldBytes
  }
}

// Of the 512 MiB that the process may have.
const MAX_HELD_BYTES = 64 * 1024 * 1024
// About a thousand files that are sent faster than their clients read.
const MAX_STREAMED_BYTES = 128 * 1024 * 1024

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
  app.decorate('heldBytes', createHeldBytes(MAX_HELD_BYTES))
  const streamedBytes = createHeldBytes(MAX_STREAMED_BYTES)
  app.addHook('onSend', (request, reply, payload, done) => {
    const headers: ResponseHeaders = reply.getHeaders()
    const send = (body: unknown) => {
      addHeaders(request, headers)
      reply.headers(headers)
      done(null, body)
    }
    if (payload instanceof Readable) holdStalled(streamedBytes, reply.raw, payload)
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return send(payload)
    compress(request, headers, payload, (body) => {
      send(body)
      setImmediate(() => holdUnread(app.heldBytes, reply.raw))
    })
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
    holdUnread(server.heldBytes, reply.raw)
  })
}

/** Counts what the client has not taken at once, until it has. */
function holdUnread (held: HeldBytes, response: ServerResponse) {
  const unread = response.socket?.writableLength ?? 0
  if (unread === 0 || response.destroyed) return
  const end = () => void response.destroy()
  response.once('close', () => held.release(end))
  held.add(end, unread)
}

/** Counts what a stream has read and its client has not, while it waits for the client. */
function holdStalled (held: HeldBytes, response: ServerResponse, stream: Readable) {
  const end = () => void response.destroy()
  const release = () => held.release(end)
  response.on('drain', release).once('close', release)
  stream.on('pause', () => {
    // It also pauses at its end.
    if (response.destroyed || response.writableEnded) return
    held.add(end, stream.readableHighWaterMark + response.writableLength)
  })
}
