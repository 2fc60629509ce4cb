import t from 'tap'
import { testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

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
