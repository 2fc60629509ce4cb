import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ValidationError } from './errors.ts'

/**
 * Reads the Idempotency-Key header, with which a client can safely repeat a request. Returns the key with a digest of
 * the request, or undefined without the header.
 * @param file the uploaded file of a multipart request, which is not part of the parsed body
 */
export function readIdempotencyKey (
  request: FastifyRequest,
  file?: Buffer
): { accountId: string, key: string, requestDigest: string } | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return
  if (typeof key !== 'string' || key.length === 0 || key.length > 255) {
    throw new ValidationError('idempotencyKeyMustHave1To255Characters')
  }
  const digest = digestOf(JSON.stringify([request.method, request.url, request.body ?? null], sortFields))
  return { accountId: request.account.id, key, requestDigest: file ? digest + digestOf(file) : digest }
}

const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('base64url')

// Some clients serialize the fields of the same object in a different order each time.
function sortFields (_key: string, value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
