import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ValidationError } from './errors.ts'

/**
 * The key under which a client may send the same request again, and a digest of what it asks; undefined when it gave none.
 * @param file what the request's form holds, which is no part of its body
 */
export function readIdempotencyKey (request: FastifyRequest, file?: Buffer): { accountId: string, key: string, requestDigest: string } | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return
  if (typeof key !== 'string' || key.length === 0 || key.length > 255) throw new ValidationError('Idempotency-Key must have 1 to 255 characters')
  const asked = digestOf(JSON.stringify([request.method, request.url, request.body ?? null], inOrder))
  return { accountId: request.account.id, key, requestDigest: file ? asked + digestOf(file) : asked }
}

const digestOf = (content: string | Buffer) => createHash('sha256').update(content).digest('base64url')

// Some clients write the fields of the same object in another order each time.
function inOrder (_key: string, value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
