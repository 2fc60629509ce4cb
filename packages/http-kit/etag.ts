import { createHash } from 'node:crypto'
import type { FastifyInstance, onSendAsyncHookHandler } from 'fastify'
import Type from 'typebox'

/** What the document says about 304. */
export const NOT_MODIFIED = 'Not modified since the ETag in If-None-Match'

/**
 * The response of a route to a client that has its current response already: `response: { 200: …, 304: NotModified }`.
 * The kit computes the ETag from the body and compares it with If-None-Match, unless the route sends an ETag itself.
 */
export const NotModified = Type.Null({ description: NOT_MODIFIED })

/** Makes `app` send ETags, and 304 to clients that have the response, on routes that declare `NotModified`. */
export function revalidateResponses (app: FastifyInstance) {
  app.addHook('onRoute', (route) => {
    const { response } = (route.schema ?? {}) as { response?: Record<string, unknown> }
    if (!response?.['304']) return
    const revalidate: onSendAsyncHookHandler = async (request, reply, payload) => {
      if (reply.statusCode !== 200 || typeof payload !== 'string' || reply.hasHeader('etag')) return payload
      // Weak, because a proxy may compress the body.
      const etag = `W/"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`
      reply.header('etag', etag)
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-cache')
      if (!matchesEtag(request.headers['if-none-match'], etag)) return payload
      reply.code(304).removeHeader('content-type').removeHeader('content-length')
      return ''
    }
    route.onSend = [route.onSend ?? [], revalidate].flat()
  })
}

/** Whether If-None-Match contains `etag`, weak or not. A proxy may have made it weak, or added others. */
export function matchesEtag (header: string | undefined, etag: string) {
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return header?.split(',').some((each) => opaque(each) === opaque(etag)) ?? false
}
