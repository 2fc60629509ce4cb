import type { FastifyInstance } from 'fastify'

export const REQUEST_TIMEOUT_MS = 15_000
// At 64 KiB/s, the slowest pace of several bodies of one account, 50 MB take 13 minutes.
export const LONG_REQUEST_TIMEOUT_MS = 15 * 60_000
/** For routes that take longer files than an image. Their server needs `longestRequestMs: LONG_REQUEST_TIMEOUT_MS`. */
export const longRequests = { minBytes: 5 * 1024 * 1024, timeoutMs: LONG_REQUEST_TIMEOUT_MS }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long a request with a body above `minBytes`, or of unknown length, may take to arrive instead of 15 s. */
    longRequests?: { minBytes: number, timeoutMs: number }
  }
}

/**
 * Ends requests that take longer to arrive than their route allows. Node has one such timeout for a whole server: where
 * one route takes long files, that is the timeout of this route.
 */
export function limitRequestTimes (app: FastifyInstance) {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers
    if (raw.complete || (encoding === undefined && (length === undefined || length === '0'))) return done()
    const { minBytes = Infinity, timeoutMs = 0 } = routeOptions.config.longRequests ?? {}
    const isLong = Number(length ?? Infinity) > minBytes
    const timer = setTimeout(() => {
      // As Node does it: outside of any route.
      const error = Object.assign(new Error('the request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      if (!raw.complete) app.server.emit('clientError', error, raw.socket)
    }, isLong ? timeoutMs : REQUEST_TIMEOUT_MS)
    raw.once('end', () => clearTimeout(timer))
    reply.raw.once('close', () => clearTimeout(timer))
    done()
  })
}
