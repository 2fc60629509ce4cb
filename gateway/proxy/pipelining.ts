import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { RateLimited } from '@tandem/http-kit'
import type { onRequestHookHandler } from 'fastify'
import type { HeldBytes } from './held-bytes.ts'

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

// What Node keeps of a request until its connection is closed.
const IGNORED_BYTES = 2 * 1024

/**
 * Ignores what follows on a connection whose client does not wait. Node parses a packet to its end, and 64 KiB can be
 * thousands of requests: to refuse each of them took half a second, for all clients. They count as held, so that of many
 * such connections the oldest are closed without a response.
 */
export function ignorePipelined (server: Server, held: HeldBytes) {
  const [handle] = server.listeners('request') as RequestListener[]
  const refused = new WeakMap<Socket, () => void>()
  server.removeAllListeners('request').on('request', (request, response) => {
    const { socket } = request
    if (response.socket) return handle?.(request, response)
    const end = refused.get(socket)
    if (end) return held.add(end, IGNORED_BYTES)
    const close = () => void socket.destroy()
    refused.set(socket, close)
    socket.pause().once('close', () => held.release(close))
    handle?.(request, response)
  })
}
