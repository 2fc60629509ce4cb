import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const long = JSON.stringify({ success: true, data: 'a post '.repeat(500) })

t.test('JSON of more than 1 KiB is compressed for clients that accept it', async (t) => {
  const { call, as, services } = await testGateway(t)
  const respond = (body: string, headers: Record<string, string> = {}) =>
    services.social.respondWith((_received, response) =>
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body)
    )
  const get = async (encodings?: string, path = '/api/mobile/v1/feed') =>
    await call(path, { headers: { ...as(), ...(encodings && { 'accept-encoding': encodings }) } })

  respond(long)
  const compressed = await get('br;q=1.0, gzip;q=0.8, *;q=0.1')
  t.match(compressed.headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/ })
  t.equal(gunzipSync(compressed.body).toString(), long)
  t.ok(compressed.body.length < long.length / 5)
  t.equal(compressed.headers['content-length'], String(compressed.body.length))

  for (const encodings of [undefined, 'identity', 'br', 'gzip;q=0', 'gzip;q=0.0, br']) {
    const plain = await get(encodings)
    t.notOk(plain.headers['content-encoding'], encodings ?? 'no header')
    t.equal(plain.body.toString(), long)
  }

  respond('{"success":true}')
  t.notOk((await get('gzip')).headers['content-encoding'], 'a short response')
  respond(long, { etag: '"1"' })
  t.notOk((await get('gzip')).headers['content-encoding'], 'a response whose ETag names its bytes')

  services.identity.respondWith((_received, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(long)
  )
  t.notOk((await get('gzip', '/api/mobile/v1/auth/sessions')).headers['content-encoding'], 'a response with secrets')
})

t.test('bytes that are not text are passed on as they are', async (t) => {
  const { call, as, services } = await testGateway(t)
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  services.social.respondWith((_received, response) =>
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes)
  )
  const answer = await call('/api/mobile/v1/feed', { headers: as() })
  t.ok(answer.body.equals(bytes))
  t.equal(answer.headers['content-length'], '256', 'also where the service declares no length')
})
