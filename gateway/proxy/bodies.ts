import type { IncomingMessage } from 'node:http'
import { PayloadTooLarge, RequestTimeout, UnsupportedMediaType, ValidationError } from '@tandem/http-kit'
import type { FastifyRequest } from 'fastify'
import type { HeldBytes } from './held-bytes.ts'

export const createIncompleteBody = () => new ValidationError('bodyIsIncomplete')

/** The declared length of the body of `request`: undefined if it is not declared, 0 if there is no body. */
export function declaredLengthOf ({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
}

/**
 * The declared length of the body of `request`, 0 if it is not read. Throws PayloadTooLarge if it is above `limit`, and
 * UnsupportedMediaType for a compressed body: services do not decompress, as a limit on the length of a compressed body
 * would limit nothing.
 */
export function checkBody ({ raw, method, headers }: FastifyRequest, limit: number): number | undefined {
  const length = method === 'GET' || method === 'HEAD' ? 0 : declaredLengthOf(raw)
  if (length === 0) return 0
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) throw new UnsupportedMediaType()
  if (length !== undefined && length > limit) throw new PayloadTooLarge()
  return length
}

// Each chunk takes about 200 bytes more than it has. A body may arrive in chunks of one byte.
const MAX_CHUNKS = 256
// What a request, its connection and its chunks take besides the body: 20 to 33 KB were measured.
const OVERHEAD_BYTES = 32 * 1024

/**
 * Buffers a body. Throws PayloadTooLarge beyond `limit` bytes, whatever length was declared, and RequestTimeout if `held`
 * ends it. Then the rest is discarded.
 */
export function readBody (request: IncomingMessage, limit: number, held: HeldBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let length = 0

    const stop = () => {
      held.release(end)
      request.off('data', onData).off('end', onEnd).off('error', onError).resume()
    }
    const end = () => {
      stop()
      reject(new RequestTimeout())
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (chunks.length === MAX_CHUNKS) chunks = [Buffer.concat(chunks)]
      if (length <= limit) return held.add(end, chunk.length)
      stop()
      reject(new PayloadTooLarge())
    }
    const onEnd = () => {
      stop()
      resolve(chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks))
    }
    const onError = () => {
      stop()
      reject(createIncompleteBody())
    }
    request.on('data', onData).on('end', onEnd).on('error', onError)
    held.add(end, OVERHEAD_BYTES)
  })
}
