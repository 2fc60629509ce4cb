import t from 'tap'
import { createServer } from './index.ts'
import { silentLog, testKeys } from './testing.ts'

t.test('a deprecated route says since when, and when it ends', async (t) => {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => app.close())
  const config = { public: true }
  const dates = { deprecated: true, 'x-deprecated-since': '2026-11-27', 'x-sunset': '2027-06-01' }
  app.get('/old', { config, schema: { ...dates } }, async () => ({ success: true }))
  app.get('/new', { config, schema: {} }, async () => ({ success: true }))
  const old = await app.inject('/old')
  t.match(old.headers, { deprecation: '@1795737600', sunset: 'Tue, 01 Jun 2027 00:00:00 GMT' })
  t.notOk((await app.inject('/new')).headers['deprecation'])
  t.match((await app.inject('/openapi.json')).json().paths['/old'].get, dates)

  const careless = await createServer({ name: 'test', log: silentLog, keys: testKeys })
  t.teardown(() => careless.close())
  t.throws(() => careless.get('/half', { schema: { deprecated: true } }, async () => ({})), {
    message: /belong together/
  })
})
