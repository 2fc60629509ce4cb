import t from 'tap'
import { setLimits, turnOff, useBrand } from '@tandem/brand-kit/testing'
import { serviceNames } from '../routes.ts'
import { testGateway } from '../test/gateway.ts'
import { joinDocuments } from './join-documents.ts'

t.test('one document describes all services', async (t) => {
  const { call, services } = await testGateway(t, { env: { PUBLIC_URL: 'https://api.example.org' } })
  const describe = (path: string, thing: object) => ({
    openapi: '3.1.0',
    paths: {
      [path]: {
        get: {
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
            default: { $ref: '#/components/responses/Refusal' }
          }
        }
      },
      '/internal/x': { get: {} }
    },
    components: { schemas: { Thing: thing }, responses: { Refusal: { description: 'Any failure' } } }
  })
  services.identity.documents.set('/openapi.json', describe('/auth/me', { type: 'object' }))
  services.social.documents.set('/openapi.json', describe('/feed', { type: 'string' }))
  services.profile.documents.set('/openapi.json', describe('/profile', { type: 'object' }))
  for (const name of ['fitmatch', 'dashboard'] as const) {
    services[name].documents.set('/openapi.json', describe('/not-its-own', {}))
  }

  const answer = await call('/openapi.json')
  t.equal(answer.status, 200)
  // The document has no static type; each line below checks one part of it.
  const document = answer.json() as any // oxlint-disable-line typescript/no-explicit-any
  t.match(document, {
    openapi: '3.1.0',
    servers: [{ url: '/api/mobile/v1' }, { url: 'https://api.example.org/api/mobile/v1' }]
  })
  t.strictSame(Object.keys(document.paths), ['/meta', '/realtime', '/auth/me', '/profile', '/feed'])
  const schemaOf = (path: string) => document.paths[path].get.responses[200].content['application/json'].schema.$ref
  t.equal(schemaOf('/auth/me'), '#/components/schemas/Thing')
  t.equal(schemaOf('/profile'), '#/components/schemas/Thing', 'equal components of the same name are merged')
  t.equal(schemaOf('/feed'), '#/components/schemas/social.Thing', 'a different component of the same name is prefixed')
  t.match(document.components.schemas, {
    Thing: { type: 'object' },
    'social.Thing': { type: 'string' },
    'fitmatch.Thing': {},
    'dashboard.Thing': {}
  })
  t.strictSame(Object.keys(document.components.responses).filter((each) => each.includes('Refusal')), ['Refusal'])
  const given = ['identity', 'social', 'profile', 'fitmatch', 'dashboard']
  t.strictSame(document['x-missing'], serviceNames.filter((name) => !given.includes(name)))
  t.match(document.info.description, /Incomplete.*notification/)
})

t.test('the introduction names the languages of the brand', async (t) => {
  useBrand(t, t.testdir({ 'brand.json': '{"locales": ["en", "es"]}' }))
  const { info } = joinDocuments([], { version: '1.0.0', servers: [], missing: [] })
  t.match(info.description, 'Send `Accept-Language` (`en` or `es`)')
})

t.test('references still resolve after joining', async (t) => {
  const part = (name: string, schema: object) => ({
    name,
    document: {
      components: { schemas: { A: { ...schema, properties: { b: { $ref: '#/components/schemas/B' } } }, B: schema } }
    }
  })
  const { components } = joinDocuments([part('x', { type: 'object' }), part('y', { type: 'array' })], {
    version: '1',
    servers: [],
    missing: []
  })
  t.match(components['schemas']?.['y.A'], { properties: { b: { $ref: '#/components/schemas/y.B' } } })
  t.match(components['schemas']?.['A'], { properties: { b: { $ref: '#/components/schemas/B' } } })
})

t.test('the docs page shows the document and loads nothing from other servers', async (t) => {
  const { call } = await testGateway(t)
  t.match(await call('/docs'), { status: 302, headers: { location: '/docs/' } })
  const page = await call('/docs/')
  t.match(page, {
    status: 200,
    headers: { 'content-type': /html/, 'content-security-policy': /default-src 'none'.*connect-src 'self'/ }
  })
  t.match(page.body.toString(), /src="js\/scalar\.js"/)
  t.match(page.body.toString(), /\/openapi\.json/)
  t.notMatch(page.body.toString(), /https?:/)
  t.match(
    page.body.toString(),
    /<script nonce="[^"]+">\s*Object\.defineProperty\(window, 'localStorage', .*sessionStorage[^]*<\/script>[^]*src="js\/scalar\.js"/,
    'the token is kept for the tab only'
  )
  t.match(await call('/'), { status: 302, headers: { location: '/docs/' } })
  t.match(await call('/favicon.ico'), { status: 200, headers: { 'content-type': /svg/ } })
  const compressed = await call('/docs/js/scalar.js', { headers: { 'accept-encoding': 'gzip' } })
  t.equal(compressed.headers['content-encoding'], 'gzip')
  t.ok(compressed.body.length < 2_000_000)
  const { etag = '' } = (await call('/openapi.json')).headers
  t.equal((await call('/openapi.json', { headers: { 'if-none-match': String(etag) } })).status, 304)
  const script = await call('/docs/js/scalar.js')
  t.match(script, { status: 200, headers: { 'content-type': /javascript/ } })
  t.ok(script.body.length > 1_000_000)
  t.match((await call('/docs/nothing')).json(), { code: 'NOT_FOUND' })

  const without = await testGateway(t, { env: { DOCS: 'off' } })
  t.equal((await without.call('/docs/')).status, 404)
  t.equal((await without.call('/openapi.json')).status, 404)
  t.match((await without.call('/')).json(), { success: false, code: 'NOT_FOUND' })
})

t.test('the public keys of identity are proxied', async (t) => {
  const { call, issuer, services } = await testGateway(t)
  t.strictSame((await call('/.well-known/jwks.json')).json(), { keys: [issuer.jwk] })
  await services.identity.stop()
  t.match((await call('/.well-known/jwks.json')).json(), { success: false, code: 'SERVICE_UNAVAILABLE' })
  await services.identity.start()
})

/** The property names and types of `value`; of a list, those of its first element. */
const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.slice(0, 1).map(shapeOf)
    : typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
    : typeof value

t.test('GET /meta returns versions and limits', async (t) => {
  const { call } = await testGateway(t, { env: { MIN_APP_VERSION_IOS: '2.1', LIMIT_AUTH_LOGIN: '7/2m' } })
  const { status, json } = await call('/api/mobile/v1/meta')
  t.equal(status, 200)
  const meta = json() as { data: { limits: { rates: object[] } } }
  t.match(meta, {
    success: true,
    data: { apiVersion: 'v1', serverVersion: String, minAppVersion: { ios: '2.1', android: '1.0.0' } }
  })
  const { paths } = (await call('/openapi.json')).json() as {
    paths: Record<string, { get: { responses: { 200: { content: { 'application/json': { example: object } } } } } }>
  }
  const { example } = paths['/meta']!.get.responses[200].content['application/json']
  t.strictSame(shapeOf(example), shapeOf(meta), 'the example in the document is complete')
  t.match(meta.data.limits.rates.find((rate) => 'route' in rate && rate.route === 'POST /auth/login'), {
    max: 7,
    windowSeconds: 120
  })
})

t.test('GET /meta has the features and limits of the brand, and the document no section without operations', async (t) => {
  turnOff(t, 'fitmatch', 'stories')
  setLimits(t, { storiesPerDay: 3 })
  const { call } = await testGateway(t)
  t.match((await call('/api/mobile/v1/meta')).json(), {
    data: {
      features: { fitmatch: false, activities: false, stories: false, polls: true },
      limits: { product: { storiesPerDay: 3, freeSwipesPerDay: 10 } }
    }
  })
  const { tags } = (await call('/openapi.json')).json() as { tags: { name: string }[] }
  t.strictSame(tags.map(({ name }) => name), ['Realtime', 'Server'])
})

t.test('health lists what is down, and one service down does not make the gateway unready', async (t) => {
  const { call, as, services } = await testGateway(t)
  // A gateway without keys is not ready. A request with a token waits for them.
  t.match(await call('/api/mobile/v1/feed', { headers: as() }), { status: 200 })
  services.fitmatch.documents.delete('/health/ready')
  services.fitmatch.respondWith((_received, response) => response.writeHead(503).end())
  await services.social.stop()
  t.match(await call('/health/live'), { status: 200 })
  const ready = await call('/health/ready')
  t.equal(ready.status, 200)
  t.strictSame(ready.json(), { status: 'ready', degraded: true, down: ['redis', 'social', 'fitmatch'] })
  await services.social.start()
})

t.test('in production, health does not list what is down', async (t) => {
  const { call } = await testGateway(t, { env: { NODE_ENV: 'production' } })
  const health = (await call('/health/ready')).json()
  t.strictSame(Object.keys(health), ['status', 'degraded'])
})
