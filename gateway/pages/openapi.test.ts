import t from 'tap'
import { testGateway } from '../test/gateway.ts'
import { joinDocuments } from './join-documents.ts'

t.test('all services are described in one document', async (t) => {
  const { call, services } = await testGateway(t, { env: { PUBLIC_URL: 'https://api.example.org' } })
  const describe = (path: string, thing: object) => ({
    openapi: '3.1.0',
    paths: { [path]: { get: { responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } }, default: { $ref: '#/components/responses/Failure' } } } }, '/internal/x': { get: {} } },
    components: { schemas: { Thing: thing }, responses: { Failure: { description: 'Any failure' } } }
  })
  services.identity.documents.set('/openapi.json', describe('/auth/me', { type: 'object' }))
  services.social.documents.set('/openapi.json', describe('/feed', { type: 'string' }))
  services.profile.documents.set('/openapi.json', describe('/profile', { type: 'object' }))
  for (const name of ['fitmatch', 'dashboard'] as const) services[name].documents.set('/openapi.json', describe('/not-its-own', {}))

  const answer = await call('/openapi.json')
  t.equal(answer.status, 200)
  // A document is whatever the services made of it; each line below asks one thing of it.
  const document = answer.json() as any // oxlint-disable-line typescript/no-explicit-any
  t.match(document, { openapi: '3.1.0', servers: [{ url: '/api/mobile/v1' }, { url: 'https://api.example.org/api/mobile/v1' }] })
  t.strictSame(Object.keys(document.paths), ['/meta', '/auth/me', '/profile', '/feed'])
  const schemaOf = (path: string) => document.paths[path].get.responses[200].content['application/json'].schema.$ref
  t.equal(schemaOf('/auth/me'), '#/components/schemas/Thing')
  t.equal(schemaOf('/profile'), '#/components/schemas/Thing', 'the same by the same name is one')
  t.equal(schemaOf('/feed'), '#/components/schemas/social.Thing', 'another by the same name gets one of its own')
  t.strictSame(document.components.schemas, { Thing: { type: 'object' }, 'social.Thing': { type: 'string' }, 'fitmatch.Thing': {}, 'dashboard.Thing': {} })
  t.strictSame(Object.keys(document.components.responses), ['Failure'])
  t.strictSame(document['x-missing'], ['notification'])
  t.match(document.info.description, /Incomplete.*notification/)
})

t.test('joining leaves no reference without its end', async (t) => {
  const part = (name: string, schema: object) => ({ name, document: { components: { schemas: { A: { ...schema, properties: { b: { $ref: '#/components/schemas/B' } } }, B: schema } } } })
  const { components } = joinDocuments([part('x', { type: 'object' }), part('y', { type: 'array' })], { version: '1', servers: [], missing: [] })
  t.match(components['schemas']?.['y.A'], { properties: { b: { $ref: '#/components/schemas/y.B' } } })
  t.match(components['schemas']?.['A'], { properties: { b: { $ref: '#/components/schemas/B' } } })
})

t.test('a page shows the document, from this server alone', async (t) => {
  const { call } = await testGateway(t)
  t.match(await call('/docs'), { status: 302, headers: { location: '/docs/' } })
  const page = await call('/docs/')
  t.match(page, { status: 200, headers: { 'content-type': /html/, 'content-security-policy': /default-src 'none'.*connect-src 'self'/ } })
  t.match(page.body.toString(), /src="js\/scalar\.js"/)
  t.match(page.body.toString(), /\/openapi\.json/)
  t.notMatch(page.body.toString(), /https?:/)
  t.match(page.body.toString(), /<script nonce="[^"]+">Object\.defineProperty\(window, 'localStorage', .*sessionStorage.*<\/script>[^]*src="js\/scalar\.js"/, 'a token is kept for the tab only')
  const script = await call('/docs/js/scalar.js')
  t.match(script, { status: 200, headers: { 'content-type': /javascript/ } })
  t.ok(script.body.length > 1_000_000)
  t.match((await call('/docs/nothing')).json(), { code: 'NOT_FOUND' })

  const without = await testGateway(t, { env: { DOCS: 'off' } })
  t.equal((await without.call('/docs/')).status, 404)
  t.equal((await without.call('/openapi.json')).status, 404)
})

t.test('the keys of identity are passed through', async (t) => {
  const { call, issuer, services } = await testGateway(t)
  t.strictSame((await call('/.well-known/jwks.json')).json(), { keys: [issuer.jwk] })
  await services.identity.stop()
  t.match((await call('/.well-known/jwks.json')).json(), { success: false, code: 'SERVICE_UNAVAILABLE' })
  await services.identity.start()
})

/** The names of what is in `value`, and of lists of what is in their first. */
const shapeOf = (value: unknown): unknown => Array.isArray(value)
  ? value.slice(0, 1).map(shapeOf)
  : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)])) : typeof value

t.test('an app learns what holds here', async (t) => {
  const { call } = await testGateway(t, { env: { MIN_APP_VERSION_IOS: '2.1', LIMIT_AUTH_LOGIN: '7/2m' } })
  const { status, json } = await call('/api/mobile/v1/meta')
  t.equal(status, 200)
  const meta = json() as { data: { limits: { rates: object[] } } }
  t.match(meta, { success: true, data: { apiVersion: 'v1', serverVersion: String, minAppVersion: { ios: '2.1', android: '1.0.0' } } })
  const { paths } = (await call('/openapi.json')).json() as { paths: Record<string, { get: { responses: { 200: { content: { 'application/json': { example: object } } } } } }> }
  const { example } = paths['/meta']!.get.responses[200].content['application/json']
  t.strictSame(shapeOf(example), shapeOf(meta), 'the document shows a whole one')
  t.match(meta.data.limits.rates.find((rate) => 'route' in rate && rate.route === 'POST /auth/login'), { max: 7, windowSeconds: 120 })
})

t.test('health names what is down, and one service down is no reason to stop', async (t) => {
  const { call, as, services } = await testGateway(t)
  // A gateway without keys is not ready. A signed-in request waits for them.
  t.match(await call('/api/mobile/v1/feed', { headers: as() }), { status: 200 })
  services.fitmatch.documents.delete('/health/ready')
  services.fitmatch.answer((_asked, response) => response.writeHead(503).end())
  await services.social.stop()
  t.match(await call('/health/live'), { status: 200 })
  const ready = await call('/health/ready')
  t.equal(ready.status, 200)
  t.strictSame(ready.json(), { status: 'ready', degraded: true, down: ['redis', 'social', 'fitmatch'] })
  await services.social.start()
})

t.test('in production the public is not told what is down', async (t) => {
  const { call } = await testGateway(t, { env: { NODE_ENV: 'production' } })
  const health = (await call('/health/ready')).json()
  t.strictSame(Object.keys(health), ['status', 'degraded'])
})
