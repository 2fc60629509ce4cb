import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { Unavailable } from '@tandem/process-kit'
import { AwsClient } from 'aws4fetch'
import { presign } from './presign.ts'
import type { Storage } from './storage.ts'

export interface S3Settings {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

// A week: where a CDN cannot be purged, deleted images disappear by then.
const PUBLIC_CACHE_CONTROL = 'public, max-age=604800, immutable'
const PRIVATE_CACHE_CONTROL = 'private, max-age=3600'
// Shorter than the gateway's upload timeout of 10 s.
const TIMEOUT_MS = 8_000
const COMPLETE_TIMEOUT_MS = 60_000
// The least that S3 accepts. With its 10,000 parts, a file can have 48 GiB.
const PART_BYTES = 5 * 1024 * 1024

/** Stores files in a bucket of any S3-compatible store. */
export function s3Storage ({ endpoint, bucket, region, accessKeyId, secretAccessKey }: S3Settings): Storage {
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 2 })
  const urlOf = (key: string) => `${endpoint.replace(/\/$/, '')}/${bucket}/${key}`

  async function call (path: string, init: RequestInit) {
    const response = await client.fetch(urlOf(path), { signal: AbortSignal.timeout(TIMEOUT_MS), ...init })
      .catch((error: unknown) => {
        throw new Unavailable({ cause: error })
      })
    if (response.ok || response.status === 404) return response
    // The body must be read to its end, or the connection cannot be reused.
    await response.arrayBuffer().catch(() => {})
    throw new Unavailable({
      cause: new Error(`the object store returned ${response.status} for ${init.method}`)
    })
  }

  const headersOf = (key: string, mimeType: string) => ({
    'content-type': mimeType,
    // A browser plays a video in its page, and saves it only if people ask for that.
    ...(mimeType.startsWith('video/') && { 'content-disposition': 'inline' }),
    'cache-control': key.startsWith('public/') ? PUBLIC_CACHE_CONTROL : PRIVATE_CACHE_CONTROL
  })
  async function put (path: string, bytes: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
    const response = await call(path, { method: 'PUT', body: bytes, headers })
    if (!response.ok) throw new Unavailable({ cause: new Error('the bucket does not exist') })
    await response.arrayBuffer()
    return response
  }

  async function uploadParts (key: string, uploadId: string, chunks: AsyncIterable<Buffer>) {
    const parts: string[] = []
    for await (const part of partsOf(chunks)) {
      const { headers } = await put(`${key}?partNumber=${parts.length + 1}&uploadId=${uploadId}`, part)
      parts.push(`<Part><PartNumber>${parts.length + 1}</PartNumber><ETag>${headers.get('etag') ?? ''}</ETag></Part>`)
    }
    const response = await call(`${key}?uploadId=${uploadId}`, {
      method: 'POST',
      body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
      signal: AbortSignal.timeout(COMPLETE_TIMEOUT_MS)
    })
    // The status is sent before the store has joined the parts, so a failure is in the body.
    const result = await response.text()
    if (!response.ok || result.includes('<Error>')) throw new Unavailable({ cause: new Error(result.slice(0, 500)) })
  }

  async function putStream (key: string, chunks: AsyncIterable<Buffer>, mimeType: string) {
    const response = await call(`${key}?uploads=`, { method: 'POST', headers: headersOf(key, mimeType) })
    const uploadId = /<UploadId>([^<]+)<\/UploadId>/.exec(await response.text())?.[1]
    if (!uploadId) throw new Unavailable({ cause: new Error('the store started no upload') })
    const id = encodeURIComponent(uploadId)
    try {
      await uploadParts(key, id, chunks)
    } catch (error) {
      await call(`${key}?uploadId=${id}`, { method: 'DELETE' }).catch(() => {})
      throw error instanceof Unavailable ? error : new Unavailable({ cause: error })
    }
  }

  async function remove (key: string) {
    await (await call(key, { method: 'DELETE' })).arrayBuffer()
  }

  async function list (prefix: string) {
    const keys: string[] = []
    for (let token: string | undefined;;) {
      const page = token === undefined ? '' : `&continuation-token=${encodeURIComponent(token)}`
      const response = await call(`?list-type=2&prefix=${encodeURIComponent(prefix)}${page}`, { method: 'GET' })
      const xml = await response.text()
      // Keys are made by us and contain nothing that XML escapes.
      keys.push(...[...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key))
      token = /<NextContinuationToken>([^<]*)<\/NextContinuationToken>/.exec(xml)?.[1]
      if (token === undefined) return keys
    }
  }

  return {
    async put (key, bytes, mimeType) {
      await put(key, new Uint8Array(bytes), headersOf(key, mimeType))
    },
    putStream,
    putFile: async (key, file, mimeType) => await putStream(key, chunksOf(file), mimeType),
    async read (key, range) {
      // The timeout is for the beginning: reading a long file takes as long as its reader does.
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), TIMEOUT_MS)
      const headers = range && { range: `bytes=${range.start}-${range.end}` }
      const response = await call(key, { method: 'GET', signal: controller.signal, ...(headers && { headers }) })
        .finally(() => clearTimeout(timer))
      if (response.ok && response.body) return Readable.fromWeb(response.body)
      await response.arrayBuffer()
    },
    async find (key) {
      const response = await call(key, { method: 'GET' })
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.ok ? bytes : undefined
    },
    async size (key) {
      const response = await call(key, { method: 'HEAD' })
      return response.ok ? Number(response.headers.get('content-length')) : undefined
    },
    remove,
    list,
    async removeFolder (prefix) {
      for (const key of await list(prefix)) await remove(key)
    },
    presign: (key) => presign(urlOf(key), { region, accessKeyId, secretAccessKey })
  }
}

/**
 * Joins chunks to parts that S3 accepts. A part is valid until the next one is asked for: they share one buffer, because
 * a buffer for each would wait for the garbage collector. An empty file is one empty part.
 */
async function* partsOf (chunks: AsyncIterable<Buffer>) {
  const part = Buffer.allocUnsafe(PART_BYTES)
  let bytes = 0
  let isFirst = true
  for await (const chunk of chunks) {
    for (let copied = 0; copied < chunk.length;) {
      const length = chunk.copy(part, bytes, copied)
      copied += length
      bytes += length
      if (bytes < PART_BYTES) continue
      yield part
      bytes = 0
      isFirst = false
    }
  }
  if (bytes > 0 || isFirst) yield part.subarray(0, bytes)
}

/** Opened only when it is read: a stream that fails before somebody reads it would end the process. */
async function* chunksOf (file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file)
}
