import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateSync } from 'node:zlib'
import type { S3Settings } from './storage.ts'

/** As much of a tap test as is needed to clean up after it. */
interface Teardown { teardown (work: () => unknown): unknown }

function chunk (type: string, content: Buffer) {
  const body = Buffer.concat([Buffer.from(type), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A grey PNG with a comment in it. */
export function createPng (width = 2, height = 2) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header),
    chunk('tEXt', Buffer.from('Comment\0taken at home')), chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))), chunk('IEND', Buffer.alloc(0))
  ])
}

/** A form with one file in it, as `inject` and `fetch` take it. */
export function createForm (bytes: Buffer, { field = 'file', type = 'image/png', name = '../../etc/a.png', before = '', after = '', end = '\r\n--form--\r\n' } = {}) {
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=form' },
    payload: Buffer.concat([
      Buffer.from(`${before}--form\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`),
      bytes,
      Buffer.from(`${after}${end}`)
    ])
  }
}

export interface S3Stand { settings: S3Settings, objects: Map<string, { bytes: Buffer, headers: IncomingMessage['headers'] }>, keys: () => string[], refuse: (status?: number) => void }

/** Buckets in memory, their objects by bucket and key. Lists have two keys a page. It asks for a signature but does not check it. */
export async function startS3 (t: Teardown): Promise<S3Stand> {
  const objects: S3Stand['objects'] = new Map()
  let refusal: number | undefined

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket')
      const key = decodeURIComponent(pathname).slice(1)
      const object = objects.get(key)
      const answer = (status: number, bytes?: Buffer) => response.writeHead(status).end(bytes)
      if (refusal) return answer(refusal)
      if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=key/')) return answer(403)
      if (searchParams.has('list-type')) {
        const wanted = `${key}${searchParams.get('prefix')}`
        const found = [...objects.keys()].filter((name) => name.startsWith(wanted) && name > `${key}${searchParams.get('start-after') ?? ''}`).sort()
        return answer(200, Buffer.from(`<ListBucketResult>${found.slice(0, 2).map((name) => `<Contents><Key>${name.slice(key.length)}</Key></Contents>`).join('')}</ListBucketResult>`))
      }
      if (request.method === 'PUT') objects.set(key, { bytes: Buffer.concat(chunks), headers: request.headers })
      if (request.method === 'DELETE') objects.delete(key)
      if (request.method === 'GET') return answer(object ? 200 : 404, object?.bytes)
      answer(request.method === 'DELETE' ? 204 : 200)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => server.close().closeAllConnections())

  const { port } = server.address() as AddressInfo
  return {
    settings: { endpoint: `http://127.0.0.1:${port}/`, bucket: 'bucket', region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret' },
    objects,
    keys: () => [...objects.keys()].map((name) => name.slice(name.indexOf('/') + 1)),
    refuse: (status) => { refusal = status }
  }
}
