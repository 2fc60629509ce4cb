import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'

interface Bounds { maxBytes?: number, maxMs?: number }

// A body this short is discarded sooner than a new connection is made.
const shortBytes = 64 * 1024

/** Whether `request` has a body of which a part has not arrived yet. */
function isArriving ({ complete, headers }: IncomingMessage) {
  if (complete !== false) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Lets a client read the answer to a request whose body nobody reads: one that is too long, or is refused for another reason. Most clients send their
 * whole request before they read, and a connection that is closed with unread bytes is reset, which takes the answer away. So the answer leaves at once,
 * and ends when the rest of the body has been read and discarded: up to `maxBytes` (64 MiB) or `maxMs` (10 s), whichever comes first.
 */
export function discardUnreadBodies (app: FastifyInstance, { maxBytes = 64 * 1024 * 1024, maxMs = 10_000 }: Bounds = {}) {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request
    if (!isArriving(raw) || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return done(null, payload)
    reply.header('content-length', String(Buffer.byteLength(payload)))
    const announced = Number(raw.headers['content-length'] ?? Infinity)
    if (announced > shortBytes) reply.header('connection', 'close')

    const answer = new Readable({ read () {} })
    let discarded = 0
    const finish = () => {
      raw.off('end', finish).off('close', finish)
      clearTimeout(timer)
      answer.push(null)
    }
    const giveUp = () => raw.destroy()
    const timer = setTimeout(giveUp, maxMs)
    raw.on('error', () => {}).on('end', finish).on('close', finish)
    // What was reading has stopped, and must not hold up the rest.
    raw.unpipe().on('data', (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded > maxBytes) giveUp()
    }).resume()
    answer.push(payload)
    done(null, answer)
  })
}
