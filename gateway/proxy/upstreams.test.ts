import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createLogger } from '@tandem/process-kit'
import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

t.test('a request reaches the service that owns its path, without the prefix', async (t) => {
  const { call, as } = await testGateway(t)
  const places = {
    identity: ['/auth/me'],
    profile: ['/onboarding/status', '/profile'],
    social: ['/feed?limit=2&cursor=a%20b', '/stories', '/users/x/follow', '/hashtags/trending'],
    fitmatch: ['/fitmatch/discover'],
    dashboard: ['/dashboard/home', '/logs', '/goals', '/programs/active', '/records'],
    notification: ['/notifications/unread-count']
  }
  for (const [service, paths] of Object.entries(places)) {
    for (const path of paths) {
      const answer = await call(base + path, { headers: as() })
      t.equal(answer.status, 200, path)
      t.strictSame(answer.json(), { success: true, data: { service, method: 'GET', url: path } })
    }
  }
})

t.test('a response is passed on unchanged: status, headers and body', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.respondWith((_received, response) => {
    response.writeHead(410, {
      'content-type': 'application/json',
      etag: '"7"',
      'retry-after': '9',
      'cache-control': 'private',
      vary: 'Accept-Language',
      'x-request-id': 'its own'
    })
    response.end('{"success":false,  "error":"Gone","code":"GONE"}')
  })
  const gone = await call(`${base}/feed/1`, { headers: as() })
  t.equal(gone.status, 410)
  t.equal(gone.body.toString(), '{"success":false,  "error":"Gone","code":"GONE"}')
  t.match(gone.headers, {
    etag: '"7"',
    'retry-after': '9',
    'cache-control': 'private',
    vary: 'Accept-Language',
    'x-content-type-options': 'nosniff'
  })
  t.not(gone.headers['x-request-id'], 'its own')

  services.social.respondWith((_received, response) => response.writeHead(304, { etag: '"7"' }).end())
  t.match(await call(`${base}/feed/1`, { headers: { ...as(), 'if-none-match': '"7"' } }), {
    status: 304,
    headers: { etag: '"7"' }
  })
  services.social.respondWith((_received, response) => response.writeHead(204).end())
  t.match(await call(`${base}/feed/1`, { method: 'DELETE', headers: as() }), { status: 204, body: { length: 0 } })
  services.social.respondWith((_received, response) =>
    response.writeHead(200, { 'content-length': '17', 'content-type': 'application/json' }).end()
  )
  t.match(await call(`${base}/feed/1`, { method: 'HEAD', headers: as() }), {
    status: 200,
    headers: { 'content-length': '17' },
    body: { length: 0 }
  })
})

t.test('a long response is streamed completely', async (t) => {
  const { call, as, services } = await testGateway(t)
  const long = Buffer.alloc(3_000_000, 'abc')
  services.fitmatch.respondWith((_received, response) =>
    response.writeHead(200, { 'content-type': 'image/webp' }).end(long)
  )
  const answer = await call(`${base}/fitmatch/photos/1`, { headers: as() })
  t.equal(answer.status, 200)
  t.ok(answer.body.equals(long))
})

t.test('forged identity headers of a client do not reach a service', async (t) => {
  const { call, as, services } = await testGateway(t)
  const forged = {
    'x-user-id': '1',
    'x-internal-role': 'ADMIN',
    'x-forwarded-for': '9.9.9.9',
    'x-forwarded-host': 'evil',
    forwarded: 'for=9.9.9.9',
    'x-real-ip': '9.9.9.9',
    'x-request-id': 'forged',
    cookie: 'a=b',
    te: 'trailers',
    connection: 'close, authorization',
    'proxy-authorization': 'x',
    traceparent: `00-${'g'.repeat(9_000)}-01`,
    tracestate: 'x'.repeat(2_000)
  }
  const headers = as()
  const answer = await call(`${base}/feed`, {
    headers: { ...forged, ...headers, 'accept-language': 'id', 'idempotency-key': 'k' },
    from: '127.0.0.77'
  })
  const got = services.social.received[0]?.headers ?? {}
  t.equal(got['x-forwarded-for'], '127.0.0.77')
  t.equal(got.authorization, headers.authorization)
  t.match(got, {
    'accept-language': 'id',
    'idempotency-key': 'k',
    'x-request-id': String(answer.headers['x-request-id'])
  })
  t.notMatch(answer.headers['x-request-id'], 'forged')
  t.match(got['traceparent'], /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
  for (
    const name of [
      'x-user-id',
      'x-internal-role',
      'x-forwarded-host',
      'forwarded',
      'x-real-ip',
      'cookie',
      'te',
      'proxy-authorization',
      'tracestate'
    ]
  ) t.notOk(name in got, name)
})

t.test('a trace is continued', async (t) => {
  const { call, as, services } = await testGateway(t)
  const id = '0af7651916cd43dd8448eb211c80319c'
  await call(`${base}/feed`, { headers: { ...as(), traceparent: `00-${id}-b7ad6b7169203331-01` } })
  t.match(services.social.received[0]?.headers['traceparent'], new RegExp(`^00-${id}-[0-9a-f]{16}-01$`))
})

t.test('each request is logged under its own trace, although requests share connections to a service', async (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('gateway', 'info', {
    write: (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>)
    }
  })
  const { call, as, services } = await testGateway(t, { log })
  services.profile.respondWith((_received, response) => response.destroy())
  const traces = new Map<string, string>()
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 40 }, async (_, number) => {
      const path = `${base}/${number % 4 ? 'feed' : 'profile'}/${round}-${number}`
      const id = randomUUID().replaceAll('-', '')
      traces.set(path, id)
      await call(path, { headers: { ...as(), traceparent: `00-${id}-b7ad6b7169203331-01` } })
    }))
  }
  const logged = lines.filter((line) => line['msg'] === 'request completed').map((
    line
  ) => [line['path'], line['traceId']])
  t.strictSame(new Map(logged as [string, string][]), traces)
  // Errors are logged in the same trace, with the id of the request.
  const byRequest = new Map(
    lines.filter((line) => line['msg'] === 'request completed').map((line) => [line['requestId'], line['traceId']])
  )
  const failures = lines.filter((line) => line['err'] !== undefined && line['requestId'] !== undefined)
  t.ok(failures.length > 0)
  for (const failure of failures) t.equal(failure['traceId'], byRequest.get(failure['requestId']))
})

t.test('X-Forwarded-For is used only if it comes from a trusted proxy', async (t) => {
  const { call, as, services } = await testGateway(t, { env: { TRUST_PROXY: '127.0.0.5' } })
  await call(`${base}/feed`, { headers: { ...as(), 'x-forwarded-for': '203.0.113.7' }, from: '127.0.0.5' })
  await call(`${base}/feed`, { headers: { ...as(), 'x-forwarded-for': '203.0.113.7' }, from: '127.0.0.6' })
  t.strictSame(services.social.received.map(({ headers }) => headers['x-forwarded-for']), ['203.0.113.7', '127.0.0.6'])
})

t.test('internal paths of services are 404', async (t) => {
  const { call, as, services } = await testGateway(t)
  for (
    const path of [
      '/internal/revoked-sessions',
      '/health/ready',
      '/openapi.json',
      '/nope',
      '/auth/../internal/revoked-sessions',
      '/auth/%2e%2e/internal/revoked-sessions',
      '/auth/..%2finternal/revoked-sessions',
      '/auth//internal',
      '/auth/./login',
      '/auth/%2E/login',
      '/auth\\..\\internal',
      '/auth/%00',
      '/authx',
      '/auth/%zz'
    ]
  ) {
    const answer = await call(base + path, { headers: as() })
    t.match(answer.json(), { success: false, code: 'NOT_FOUND' }, path)
    t.equal(answer.status, 404)
  }
  t.match((await call('/internal/revoked-sessions')).status, 404)
  t.strictSame(Object.values(services).flatMap(({ received }) => received), [])
})

t.test('every error of the gateway is in the envelope', async (t) => {
  const { call, as } = await testGateway(t)
  t.match(await call('/'), { status: 404 })
  t.match((await call('/api/mobile/v2/feed')).json(), { success: false, code: 'NOT_FOUND', error: String })
  const wrong = await call(`${base}/meta`, { method: 'DELETE' })
  t.match(wrong, { status: 405, headers: { allow: 'GET, HEAD' } })
  t.match(wrong.json(), { success: false, code: 'METHOD_NOT_ALLOWED' })
  t.match((await call(`${base}/feed`, { method: 'TRACE', headers: as() })).json(), {
    success: false,
    code: 'METHOD_NOT_ALLOWED'
  })
  t.match(await call(`${base}/feed`, { method: 'OPTIONS' }), { status: 204, headers: { allow: /GET/ } })
})

t.test('any body is passed on byte for byte', async (t) => {
  const { call, as, services } = await testGateway(t)
  const odd = Buffer.from('{"a": 1e400, \u00ff}\0')
  await call(`${base}/feed`, {
    method: 'POST',
    headers: { ...as(), 'content-type': 'application/json; charset=utf-8' },
    body: odd
  })
  await call(`${base}/feed`, { method: 'POST', headers: { ...as(), 'content-type': 'text/x-odd' }, body: [odd, odd] })
  await call(`${base}/feed/1/like`, { method: 'POST', headers: as() })
  await call(`${base}/feed/1/like`, { method: 'DELETE', headers: as(), body: odd })
  const [whole, pieces, none, deleted] = services.social.received
  t.ok(whole?.body.equals(odd))
  t.equal(whole?.headers['content-type'], 'application/json; charset=utf-8')
  t.ok(pieces?.body.equals(Buffer.concat([odd, odd])))
  t.equal(pieces?.headers['content-type'], 'text/x-odd')
  t.equal(none?.body.length, 0)
  t.ok(deleted?.body.equals(odd))
})

t.test('a body that is too long is rejected with or without a declared length, and reaches no service', async (t) => {
  const { call, as, services } = await testGateway(t)
  const limits = {
    '/feed': 64 * 1024,
    '/auth/login': 64 * 1024,
    '/media': 5 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/photos': 5 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/verification': 5 * 1024 * 1024 + 64 * 1024,
    '/onboarding/upload-photo': 5 * 1024 * 1024 + 64 * 1024,
    '/fitmatch/chat/m1/messages': Math.floor(7.2 * 1024 * 1024)
  }
  const post = (path: string, body: Buffer | Buffer[]) =>
    call(base + path, { method: 'POST', headers: { ...as(), 'content-type': 'application/octet-stream' }, body })
  for (const [path, limit] of Object.entries(limits)) {
    const fits = Buffer.alloc(limit, 1)
    const long = Buffer.alloc(limit + 1, 1)
    const declared = await post(path, long)
    t.equal(declared.status, 413, `${path}, ${limit + 1} bytes`)
    t.match(declared.json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
    const undeclared = await post(path, [long.subarray(0, 40_000), long.subarray(40_000)])
    t.equal(undeclared.status, 413, 'without a length')
    t.match(undeclared.json(), { success: false, code: 'PAYLOAD_TOO_LARGE' })
    t.equal((await post(path, fits)).status, 200, `${limit} bytes`)
    t.equal((await post(path, [fits.subarray(0, 40_000), fits.subarray(40_000)])).status, 200, 'without a length')
  }
  const lengths = Object.values(services).flatMap(({ received }) => received.map(({ body }) => body.length))
  const rising = (a: number, b: number) => a - b
  t.strictSame(lengths.sort(rising), Object.values(limits).flatMap((limit) => [limit, limit]).sort(rising))
})

t.test('a compressed body is 415, not reported as broken JSON', async (t) => {
  const { call, as, services } = await testGateway(t)
  const post = (encoding: string) =>
    call(`${base}/logs/batch`, {
      method: 'POST',
      headers: { ...as(), 'content-type': 'application/json', 'content-encoding': encoding },
      body: gzipSync('{}')
    })
  const refused = await post('gzip')
  t.equal(refused.status, 415)
  t.match(refused.json(), { success: false, code: 'UNSUPPORTED_MEDIA_TYPE' })
  t.equal(services.dashboard.received.length, 0)
  t.equal((await post('identity')).status, 200)
})

t.test('four long messages at once are accepted, the fifth is 503, short ones pass', async (t) => {
  const { call, as, services } = await testGateway(t)
  const waiting: Array<() => void> = []
  services.fitmatch.respondWith((received, response) => {
    const answer = () => response.writeHead(201, { 'content-type': 'application/json' }).end('{"success":true}')
    if (received.body.length > 65_536) waiting.push(answer)
    else answer()
  })
  const send = (size: number) =>
    call(`${base}/fitmatch/chat/m1/messages`, { method: 'POST', headers: as(), body: Buffer.alloc(size, 1) })
  const four = [1, 2, 3, 4].map(() => send(3_000_000))
  while (waiting.length < 4) await sleep(10)
  const fifth = await send(3_000_000)
  t.match(fifth, { status: 503, headers: { 'retry-after': /\d/ } })
  t.match(fifth.json(), { code: 'SERVICE_UNAVAILABLE' })
  t.equal((await send(500)).status, 201)
  for (const answer of waiting) answer()
  t.strictSame((await Promise.all(four)).map(({ status }) => status), [201, 201, 201, 201])
  services.fitmatch.respondWith((_received, response) => response.writeHead(201).end())
  t.equal((await send(3_000_000)).status, 201)
})

t.test('one account cannot take all the slots for long messages', async (t) => {
  const { call, as, services } = await testGateway(t)
  const [slow, other] = [as(), as()]
  const waiting: Array<() => void> = []
  services.fitmatch.respondWith((_received, response) => {
    waiting.push(() => response.writeHead(201).end())
  })
  const send = (headers: object) =>
    call(`${base}/fitmatch/chat/m1/messages`, {
      method: 'POST',
      headers: { ...headers },
      body: Buffer.alloc(100_000, 1)
    })
  const two = [send(slow), send(slow)]
  while (waiting.length < 2) await sleep(10)
  t.equal((await send(slow)).status, 503)
  const another = send(other)
  while (waiting.length < 3) await sleep(10)
  for (const answer of waiting) answer()
  t.strictSame((await Promise.all([...two, another])).map(({ status }) => status), [201, 201, 201])
  services.fitmatch.respondWith((_received, response) => response.writeHead(201).end())
  t.equal((await send(slow)).status, 201)
})

t.test('the response of a service that rejects an upload before reading it reaches the client', async (t) => {
  const { call, as, services } = await testGateway(t)
  services.social.handleWith((request, response) => {
    response.writeHead(415, { 'content-type': 'application/json' }).end(
      '{"success":false,"code":"UNSUPPORTED_MEDIA_TYPE"}'
    )
    request.resume()
  })
  const answer = await call(`${base}/media`, { method: 'POST', headers: as(), body: Buffer.alloc(5_000_000, 1) })
  t.equal(answer.status, 415)
})

t.test('CORS follows the configuration', async (t) => {
  const plain = await testGateway(t)
  t.notOk(
    'access-control-allow-origin' in
      (await plain.call(`${base}/feed`, { headers: { origin: 'https://app.example.org' } })).headers
  )

  const { call } = await testGateway(t, { env: { CORS_ORIGINS: 'https://app.example.org, https://b.example.org' } })
  const headers = { origin: 'https://app.example.org', 'access-control-request-method': 'PUT' }
  t.match(await call(`${base}/feed/1`, { method: 'OPTIONS', headers }), {
    status: 204,
    headers: {
      'access-control-allow-origin': headers.origin,
      'access-control-allow-methods': /PUT/,
      'access-control-allow-headers': /authorization/,
      vary: /Origin/
    }
  })
  t.match(await call(`${base}/feed`, { headers }), {
    status: 401,
    headers: { 'access-control-allow-origin': headers.origin, 'access-control-expose-headers': /x-ignored-fields/ }
  }, 'a page can read a 401')
  t.notOk(
    'access-control-allow-origin' in
      (await call(`${base}/feed`, { headers: { origin: 'https://evil.example' } })).headers
  )
})
