import type { FastifyReply } from 'fastify'
import { ClientDisconnected } from './errors.ts'

/**
 * A signal that is aborted with `ClientDisconnected` when the client disconnects before the response. Use it for work
 * that is expensive and of no use to others. Fastify's `request.signal` is aborted as soon as the body has arrived.
 */
export function clientSignal ({ raw }: FastifyReply) {
  const disconnected = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) disconnected.abort(new ClientDisconnected())
  })
  return disconnected.signal
}
