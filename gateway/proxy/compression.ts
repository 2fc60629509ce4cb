import { gzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { vary, type ResponseHeaders } from './headers.ts'
import { BASE_PATH } from '../routes.ts'

const MIN_BYTES = 1_024
// For 50 KB, level 4 takes 0.5 ms and the default level 0.8 ms of CPU, and the result is 4 % longer.
const options = { level: 4 }

const acceptsGzip = (header: string | undefined) =>
  /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(header ?? '')

/**
 * Compresses JSON and scripts of more than 1 KiB for clients that accept gzip, and calls `done` with the body to send.
 * Responses of /auth are left out: they have tokens, and the length of a compressed response can reveal what it contains.
 */
export function compress<Body extends Buffer | string> (
  request: FastifyRequest,
  headers: ResponseHeaders,
  body: Body,
  done: (body: Body | Buffer) => void
) {
  if (!isCompressible(request, headers, body)) return done(body)
  vary(headers, 'Accept-Encoding')
  if (!acceptsGzip(request.headers['accept-encoding'])) return done(body)
  gzip(body, options, (error, compressed) => {
    if (error) return done(body)
    headers['content-encoding'] = 'gzip'
    headers['content-length'] = String(compressed.length)
    done(compressed)
  })
}

function isCompressible ({ method, url }: FastifyRequest, headers: ResponseHeaders, body: Buffer | string) {
  if (body.length < MIN_BYTES || method === 'HEAD' || headers['content-encoding'] !== undefined) return false
  if (!/^(application\/json|text\/javascript|application\/javascript)/.test(String(headers['content-type']))) {
    return false
  }
  // A strong ETag names these bytes, which compression would change.
  return !url.startsWith(`${BASE_PATH}/auth/`) && String(headers['etag'] ?? 'W/').startsWith('W/')
}
