import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const path = '/api/mobile/v1/account/export/file'
const MEBIBYTE = 1024 * 1024
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

t.test('a long file is streamed, with its headers and parts, and without a bearer token', async (t) => {
  const { call, services: { identity } } = await testGateway(t, { env: { LIMIT_ACCOUNT_EXPORT_FILE: 'off' } })
  const file = randomBytes(8 * MEBIBYTE)
  identity.respondWith(({ headers, method }, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    t.equal(headers['if-range'], headers.range && '"v1"')
    response.writeHead(headers.range ? 206 : 200, {
      'content-type': 'application/zip',
      'content-length': file.length - start,
      etag: '"v1"',
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment'
    })
    response.end(method === 'HEAD' ? undefined : file.subarray(start))
  })
  const whole = await call(`${path}?token=t-1`)
  t.match(whole, { status: 200, headers: { etag: '"v1"', 'content-disposition': 'attachment' } })
  t.equal(digest(whole.body), digest(file))
  t.equal(identity.received[0]?.url, '/account/export/file?token=t-1')
  const rest = await call(`${path}?token=t-1`, { headers: { range: 'bytes=1000-', 'if-range': '"v1"' } })
  t.equal(rest.status, 206)
  t.equal(digest(rest.body), digest(file.subarray(1000)))
  const head = await call(`${path}?token=t-1`, { method: 'HEAD' })
  t.match(head, { status: 200, headers: { 'content-length': String(file.length) } })
  await identity.stop()
  t.match((await call(`${path}?token=t-1`)).json(), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('a client gets two downloads at once, and a third one when it has ended one', async (t) => {
  const { url, services: { identity } } = await testGateway(t, { env: { LIMIT_ACCOUNT_EXPORT_FILE: 'off' } })
  identity.respondWith((_received, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' }).write('begin')
  })
  const open = async () => {
    const request = get(`${url}${path}?token=t-1`)
    request.on('error', () => {})
    const [response] = await once(request, 'response') as [IncomingMessage]
    return { request, status: response.statusCode }
  }
  const [first] = await Promise.all([open(), open()])
  const third = open()
  t.equal(await Promise.race([third, sleep(300, 'waiting')]), 'waiting')
  first.request.destroy()
  t.equal((await third).status, 200)
})
