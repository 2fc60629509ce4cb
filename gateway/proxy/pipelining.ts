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
