import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import type { Image } from './images.ts'
import type { S3Settings } from './s3-storage.ts'

export { createLongVideo } from './video/long-video.ts'

/** The part of a tap test that registers cleanup. */
interface Teardown {
  teardown(work: () => unknown): unknown
}

/** Creates a chunk of a PNG. */
export function pngChunk (type: string, content: Buffer) {
  const body = Buffer.concat([Buffer.from(type), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** Creates a grey PNG that contains a comment. */
export function createPng (width = 2, height = 2) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('tEXt', Buffer.from('Comment\0taken at home')),
    pngChunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    pngChunk('IEND', Buffer.alloc(0))
  ])
}

/** An image as if it had been re-encoded, without decoding anything. */
export const createImage = (bytes = createPng()): Image => ({
  bytes,
  mimeType: 'image/webp',
  width: 200,
  height: 100,
  blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
  thumbnails: [{ width: 160, bytes: Buffer.from('a thumbnail') }]
})

/** Creates a form with one file, for `inject` and `fetch`. */
export function createForm (
  bytes: Buffer,
  { field = 'file', type = 'image/png', name = '../../etc/a.png', before = '', after = '', end = '\r\n--form--\r\n' } =
    {}
) {
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=form' },
    payload: Buffer.concat([
      Buffer.from(
        `${before}--form\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`
      ),
      bytes,
      Buffer.from(`${after}${end}`)
    ])
  }
}

/** One of the videos in `test-videos`. */
export const testVideo = (name = 'phone.mov') => readFileSync(path.join(import.meta.dirname, 'test-videos', name))

/** Creates a form with several files, in their order. */
export function createFilesForm (files: { field: string, bytes: Buffer, type: string }[]) {
  const parts = files.map(({ field, bytes, type }) =>
    Buffer.concat([
      Buffer.from(
        `--form\r\ncontent-disposition: form-data; name="${field}"; filename="a"\r\ncontent-type: ${type}\r\n\r\n`
      ),
      bytes,
      Buffer.from('\r\n')
    ])
  )
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=form' },
    payload: Buffer.concat([...parts, Buffer.from('--form--\r\n')])
  }
}

// Read once: tests change TMPDIR.
const tempFolder = tmpdir()

/**
 * Starts a server that takes uploads in its own process, with its own folder for temporary files. `ask` returns its CPU
 * time in milliseconds, or the memory that it holds in bytes.
 */
export async function startUploadServer (t: Teardown) {
  const folder = await mkdtemp(path.join(tempFolder, 'tandem-uploads-'))
  const child = fork(path.join(import.meta.dirname, 'upload-server.ts'), [folder], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, TMPDIR: folder }
  })
  t.teardown(async () => {
    child.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const [{ address }] = await once(child, 'message') as [{ address: string }]
  const ask = async (question: 'cpu' | 'held') => {
    child.send(question)
    return (await once(child, 'message') as [{ answer: number }])[0].answer
  }
  return { address, folder, ask, pid: child.pid! }
}

export interface FakeS3 {
  settings: S3Settings
  objects: Map<string, { bytes: Buffer, headers: IncomingMessage['headers'] }>
  keys: () => string[]
  failWith: (status?: number) => void
}

/**
 * Starts a fake S3 with buckets in memory; `objects` is keyed by bucket and key. Requests must be signed, but
 * signatures are not verified.
 */
export async function startS3 (t: Teardown): Promise<FakeS3> {
  const objects: FakeS3['objects'] = new Map()
  const uploads = fakeUploads(objects)
  let failure: number | undefined

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket')
      const key = decodeURIComponent(pathname).slice(1)
      const object = objects.get(key)
      const body = Buffer.concat(chunks)
      const respond = (status: number, bytes?: Buffer | string) => response.writeHead(status).end(bytes)
      if (failure) return respond(failure)
      if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=key/')) return respond(403)
      if (searchParams.has('list-type')) {
        const prefix = `${key}${searchParams.get('prefix') ?? ''}`
        const found = [...objects.keys()].filter((name) => name.startsWith(prefix))
        return respond(200, found.map((name) => `<Key>${name.slice(key.length)}</Key>`).join(''))
      }
      if (searchParams.has('uploads') || searchParams.has('uploadId')) {
        return uploads.handle(request, { key, searchParams, body, respond })
      }
      if (request.method === 'PUT') objects.set(key, { bytes: body, headers: request.headers })
      if (request.method === 'DELETE') objects.delete(key)
      if (request.method === 'HEAD') {
        return response.writeHead(object ? 200 : 404, { 'content-length': object?.bytes.length ?? 0 }).end()
      }
      if (request.method === 'GET') {
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
        const bytes = start ? object?.bytes.subarray(Number(start), Number(end) + 1) : object?.bytes
        return respond(object ? start ? 206 : 200 : 404, bytes)
      }
      respond(request.method === 'DELETE' ? 204 : 200)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())

  const { port } = server.address() as AddressInfo
  return {
    settings: {
      endpoint: `http://127.0.0.1:${port}/`,
      bucket: 'bucket',
      region: 'us-east-1',
      accessKeyId: 'key',
      secretAccessKey: 'secret'
    },
    objects,
    keys: () => [...objects.keys()].map((name) => name.slice(name.indexOf('/') + 1)),
    failWith: (status) => {
      failure = status
    }
  }
}

interface UploadCall {
  key: string
  searchParams: URLSearchParams
  body: Buffer
  respond: (status: number, bytes?: Buffer | string) => unknown
}

/** The multipart uploads of the fake S3. An object exists once its upload is complete. */
function fakeUploads (objects: FakeS3['objects']) {
  const uploads = new Map<string, { headers: IncomingMessage['headers'], parts: Map<string, Buffer> }>()
  return {
    handle ({ method, headers }: IncomingMessage, { key, searchParams, body, respond }: UploadCall) {
      const id = searchParams.get('uploadId')
      if (id === null) {
        uploads.set(String(uploads.size), { headers, parts: new Map() })
        return respond(200, `<UploadId>${uploads.size - 1}</UploadId>`)
      }
      const upload = uploads.get(id)
      if (!upload) return respond(404)
      if (method === 'PUT') upload.parts.set(searchParams.get('partNumber') ?? '', body)
      else uploads.delete(id)
      if (method === 'POST') {
        const bytes = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) =>
          upload.parts.get(number!)!
        )
        if (bytes.slice(0, -1).some((part) => part.length < 5 * 1024 * 1024)) {
          return respond(200, '<Error>EntityTooSmall')
        }
        objects.set(key, { bytes: Buffer.concat(bytes), headers: upload.headers })
      }
      respond(200)
    }
  }
}
