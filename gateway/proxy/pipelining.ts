import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { RateLimited } from '@tandem/http-kit'
import type { onRequestHookHandler } from 'fastify'

/**
 * Refuses a request that was sent before the response to the one before it on the same connection, and ends the
 * connection. No app sends such requests, and the responses to those of one packet would take hundreds of megabytes.
 */
export const refusePipelined: onRequestHookHandler = (_request, reply, done) => {
  // A response gets the socket when those before it have been sent.
  if (reply.raw.socket) return done()
  reply.header('connection', 'close')
  done(new RateLimited())
}

/**
 * Closes a connection with its second request that did not wait. Node parses a packet to its end, and 64 KiB can be
 * thousands of requests: to refuse each of them as others are refused took half a second, for all clients.
 */
export function dropPipelined (server: Server) {
  const [handle] = server.listeners('request') as RequestListener[]
  const refused = new WeakSet<IncomingMessage['socket']>()
  server.removeAllListeners('request').on('request', (request, response) => {
    const { socket } = request
    if (!response.socket && refused.has(socket)) return socket.destroy()
    if (!response.socket) refused.add(socket)
    handle?.(request, response)
  })
}
