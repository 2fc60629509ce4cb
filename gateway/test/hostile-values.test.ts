import { fuzzApi } from '@tandem/http-kit/testing'
import t from 'tap'
import { testGateway } from './gateway.ts'

const base = '/api/mobile/v1'
const string = { type: 'string' }
const parametersOf = (place: string, names: string[]) => names.map((name) => ({ name, in: place, schema: string }))
const id = parametersOf('path', ['id'])
const headers = parametersOf('header', [
  'accept',
  'accept-language',
  'accept-encoding',
  'authorization',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'range',
  'user-agent',
  'content-type',
  'content-encoding',
  'x-forwarded-for',
  'x-request-id',
  'traceparent',
  'tracestate',
  'origin',
  'access-control-request-method',
  'expect'
])
const body = {
  content: { 'application/json': { schema: { type: 'object', properties: { a: string } }, example: { a: 'a' } } }
}

t.test('no value in a path, a query or a header causes a server error of the gateway', async (t) => {
  const { call, as } = await testGateway(t, { env: { TRUST_PROXY: 'loopback', CORS_ORIGINS: '*', FLOOD_LIMIT: 'off' } })
  const document = {
    paths: {
      '/feed/{id}': {
        get: { parameters: [...id, ...parametersOf('query', ['limit', 'cursor']), ...headers] },
        post: { parameters: [...id, ...headers], requestBody: body }
      },
      '/media/{id}': { post: { parameters: [...id, ...headers], requestBody: body } },
      '/locations/{id}': { get: { parameters: id } }
    }
  }
  const { bad, sent } = await fuzzApi(document, {
    async send ({ method, url, headers, payload }) {
      const answer = await call(base + url, {
        method,
        headers: { ...as(), ...headers },
        ...(payload !== undefined && { body: payload })
      })
      return { status: answer.status, type: String(answer.headers['content-type']), body: answer.body.toString() }
    }
  })
  t.strictSame(bad, [])
  t.ok(sent > 1_000, `${sent} requests`)
})
