import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifySchema {
    /** The day from which on clients should stop calling it, with `deprecated: true`. */
    'x-deprecated-since'?: string
    /** The day from which on it may be gone. */
    'x-sunset'?: string
  }
}

/** Adds the headers Deprecation (RFC 9745) and Sunset (RFC 8594) to the responses of routes with `deprecated: true`. */
export function announceDeprecations (app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const { deprecated = false, 'x-deprecated-since': since, 'x-sunset': sunset } = route.schema ?? {}
    if (!deprecated && since === undefined && sunset === undefined) return
    if (!deprecated || since === undefined || sunset === undefined) {
      throw new Error(`${route.url}: deprecated, x-deprecated-since and x-sunset belong together`)
    }
    const headers = { deprecation: `@${Date.parse(since) / 1_000}`, sunset: new Date(sunset).toUTCString() }
    route.preHandler = [(_request, reply, done) => {
      reply.headers(headers)
      done()
    }, ...[route.preHandler ?? []].flat()]
  })
}
