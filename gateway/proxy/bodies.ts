import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { Readable } from 'node:stream'
import { PayloadTooLarge, RequestTimeout, UnsupportedMediaType, ValidationError } from '@tandem/http-kit'
import type { FastifyRequest } from 'fastify'

// A body slower than a phone with bad reception sends it would hold a connection to a service for nothing.
const GRACE_MS = 5_000
const MIN_BYTES_PER_SECOND = 8 * 1_024
const TICK_MS = 500

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

/** Buffers a body. Throws PayloadTooLarge beyond `limit` bytes, whatever length was declared, and discards the rest. */
export function readBody (request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0

    const stop = () => request.off('data', onData).off('end', onEnd).off('error', onError).resume()
    const onData = (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      stop()
      reject(new PayloadTooLarge())
    }
    const onEnd = () => {
      stop()
      resolve(chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks))
    }
    const onError = () => {
      stop()
      reject(
        new ValidationError({
          en: 'The body is incomplete. Please send it again',
          id: 'Isi permintaan tidak lengkap. Kirim kembali'
        })
      )
    }
    request.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

/**
 * The body of `request` as a stream that fails with PayloadTooLarge beyond `limit` bytes, and with RequestTimeout if it
 * arrives too slowly. Once it is closed, for any reason, the rest of what the client sends is discarded, so that the
 * client can read the response.
 */
export function limitBody (request: IncomingMessage, limit: number): Readable {
  let length = 0
  const limited = new Transform({
    transform (chunk: Buffer, _encoding, done) {
      length += chunk.length
      if (length > limit) done(new PayloadTooLarge())
      else done(null, chunk)
    }
  })
  let waitedMs = 0
  const pace = setInterval(() => {
    // While bytes wait to be read, the service is the slow side.
    if (request.complete || limited.readableLength > 0 || limited.writableLength > 0) return
    waitedMs += TICK_MS
    if (waitedMs > GRACE_MS && length < waitedMs / 1_000 * MIN_BYTES_PER_SECOND) limited.destroy(new RequestTimeout())
  }, TICK_MS)
  const onError = () =>
    limited.destroy(
      new ValidationError({
        en: 'The body is incomplete. Please send it again',
        id: 'Isi permintaan tidak lengkap. Kirim kembali'
      })
    )
  request.on('error', onError)
  limited.on('error', () => {})
  limited.on('close', () => {
    clearInterval(pace)
    request.unpipe(limited)
    request.off('error', onError).on('error', () => {})
    request.resume()
  })
  return request.pipe(limited)
}
