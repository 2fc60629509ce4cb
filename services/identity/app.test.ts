import { bearer, listMissingExamples } from '@tandem/http-kit/testing'
import t from 'tap'
import { as, testApp } from './test/app.ts'

const { app, get, send, givenAccount } = await testApp(t)

interface Operation {
  summary?: string
  description?: string
  security?: unknown[]
  'x-extension'?: boolean
}

const documented = [
  'POST /auth/check-email',
  'POST /auth/login',
  'POST /auth/register',
  'POST /auth/verify-email',
  'POST /auth/resend-verification',
  'POST /auth/provider-a',
  'POST /auth/provider-b',
  'POST /auth/refresh',
  'GET /auth/me',
  'POST /auth/logout',
  'GET /auth/sessions',
  'POST /auth/sessions',
  'POST /auth/set-initial-password',
  'POST /auth/forgot-password',
  'GET /auth/reset-password',
  'POST /auth/reset-password',
  'POST /auth/report-issue'
]
const extensions = [
  'POST /auth/request-code',
  'POST /auth/login-code',
  'POST /auth/login-link',
  'POST /auth/login-link/network',
  'POST /auth/verify-link',
  'POST /auth/change-password',
  'POST /account/proof',
  'POST /account/proof/code',
  'POST /account/deletion',
  'POST /account/deletion/link',
  'POST /account/deletion/confirm',
  'POST /account/deletion/cancel',
  'POST /account/pause',
  'GET /account/deletions/{id}',
  'GET /account/standing',
  'POST /account/appeals',
  'POST /account/export',
  'GET /account/export',
  'DELETE /account/export',
  'GET /account/export/file',
  'POST /account/email',
  'POST /account/email/confirm',
  'POST /account/email/revert',
  'GET /account/providers',
  'GET /account/referrals',
  'DELETE /account/providers/{provider}',
  'GET /subscription',
  'GET /subscription/plans',
  'POST /subscription/purchases',
  'POST /webhooks/app-store',
  'POST /webhooks/google-play',
  'POST /webhooks/revenuecat'
]
const signedIn = [
  'GET /auth/me',
  'POST /auth/logout',
  'GET /auth/sessions',
  'POST /auth/sessions',
  'POST /auth/set-initial-password',
  'POST /auth/change-password',
  'POST /account/proof',
  'POST /account/proof/code',
  'POST /account/deletion',
  'POST /account/pause',
  'GET /account/standing',
  'POST /account/export',
  'GET /account/export',
  'DELETE /account/export',
  'POST /account/email',
  'POST /account/email/confirm',
  'GET /account/providers',
  'GET /account/referrals',
  'DELETE /account/providers/{provider}',
  'GET /subscription',
  'GET /subscription/plans',
  'POST /subscription/purchases'
]

t.test('the OpenAPI document has every route, with its extensions and its authentication', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${url}`, ...operation }))
  )
  t.strictSame(operations.map(({ name }) => name).sort(), [...documented, ...extensions].sort())
  t.strictSame(operations.filter((each) => each['x-extension']).map(({ name }) => name).sort(), extensions.sort())
  t.strictSame(operations.filter(({ security }) => security?.length).map(({ name }) => name).sort(), signedIn.sort())
  for (const { name, summary } of operations) t.ok(summary, name)
})

t.test('every operation has complete examples of its request and response', async (t) => {
  t.strictSame(await listMissingExamples(app), [])
})

t.test('routes that require a token reject missing and forged tokens', async (t) => {
  const { accessToken } = await givenAccount()
  const forged: Record<string, string>[] = [
    bearer(crypto.randomUUID()),
    as({ accessToken: accessToken.slice(0, -2) }),
    { authorization: accessToken },
    { 'x-user-id': crypto.randomUUID(), authorization: 'Bearer ' }
  ]
  for (const route of signedIn) {
    const [method, url] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string]
    const request = async (headers: Record<string, string>) =>
      await send(method, url, { headers, ...(method === 'POST' && { body: {} }) })
    t.match(await request({}), { status: 401, code: 'UNAUTHORIZED' }, route)
    const code = /sessions|set-initial/.test(url) ? 'UNAUTHORIZED' : 'INVALID_ACCESS_TOKEN'
    for (const headers of forged) t.match(await request(headers), { status: 401, success: false, code }, route)
  }
})

t.test('an invalid request is rejected with the error envelope', async (t) => {
  t.match(await get('/auth/nothing'), { status: 404, success: false, code: 'NOT_FOUND' })
  t.match(await get('/auth/login'), { status: 405, success: false })
  for (const payload of ['{', '[]', '"x"', 'null', '{"email": "\\u0000@b.co", "password": "x"}']) {
    const response = await app.inject({
      method: 'POST',
      url: '/auth/login',
      headers: { 'content-type': 'application/json' },
      payload
    })
    t.match({ status: response.statusCode, ...response.json() }, {
      status: 400,
      success: false,
      code: 'VALIDATION_ERROR'
    }, payload)
  }
})

t.test('a JSON content type with an empty body is accepted', async (t) => {
  const response = await app.inject({
    method: 'POST',
    url: '/auth/logout',
    headers: { ...as(await givenAccount()), 'content-type': 'application/json' }
  })
  t.equal(response.statusCode, 200)
})
