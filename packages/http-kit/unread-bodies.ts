import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

interface Limits {
  maxBytes?: number
  maxMs?: number
}

// Discarding a body this short is faster than opening a new connection.
const SHORT_BODY_BYTES = 64 * 1024

/** Whether part of the body of `request` has not arrived yet. */
function isBodyPending ({ complete, headers }: IncomingMessage) {
  if (complete !== false) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Lets clients read the response to a request whose body the server does not read, because it is too large or rejected
 * for another reason. Most clients send the whole request before they read. A connection that is closed with unread
 * bytes is reset, and the response is lost. So the response is sent at once, and ends when the rest of the body has
 * been read and discarded: up to `maxBytes` (64 MiB) or `maxMs` (10 s), whichever comes first.
 */
export function discardUnreadBodies (
  app: FastifyInstance,
  { maxBytes = 64 * 1024 * 1024, maxMs = 10_000 }: Limits = {}
) {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request
    if (!isBodyPending(raw) || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return done(null, payload)
    reply.header('content-length', String(Buffer.byteLength(payload)))
    const declaredBytes = Number(raw.headers['content-length'] ?? Infinity)
    if (declaredBytes > SHORT_BODY_BYTES) reply.header('connection', 'close')

    const response = new Readable({ read () {} })
    let discardedBytes = 0
    const finish = () => {
      raw.off('end', finish).off('close', finish)
      clearTimeout(timer)
      response.push(null)
    }
    const abort = () => raw.destroy()
    const timer = setTimeout(abort, maxMs)
    raw.on('error', () => {}).on('end', finish).on('close', finish)
    // The original reader has stopped and must not block the rest.
    raw.unpipe().on('data', (chunk: Buffer) => {
      discardedBytes += chunk.length
      if (discardedBytes > maxBytes) abort()
    }).resume()
    response.push(payload)
    done(null, response)
  })
}
