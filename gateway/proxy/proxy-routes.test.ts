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

t.test('what services offer to operators cannot be reached', async (t) => {
  const { call, as, services } = await testGateway(t)
  for (const path of ['/operator/health', '/operator/cases', '/operator/decisions', '/feed/../operator/health']) {
    for (const prefix of [base, '']) {
      t.match(await call(prefix + path, { headers: as() }), { status: 404 }, prefix + path)
    }
  }
  for (const { received } of Object.values(services)) t.same(received, [])
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
  t.match(await call('/nowhere'), { status: 404 })
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
