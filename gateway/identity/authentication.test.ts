import type { OutgoingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRootKey } from '@tandem/http-kit/testing'
import t from 'tap'
import { createIssuer, publishKeys, testGateway } from '../test/gateway.ts'

const base = '/api/mobile/v1'

t.test('a missing token is UNAUTHORIZED, an invalid one INVALID_ACCESS_TOKEN', async (t) => {
  const { call, as, services } = await testGateway(t)
  const bad = createIssuer().bearer()
  for (
    const path of [
      '/auth/me',
      '/auth/logout',
      '/auth/change-password',
      '/onboarding/status',
      '/profile',
      '/feed',
      '/stories',
      '/users/1',
      '/hashtags/trending',
      '/fitmatch/likes',
      '/dashboard/home',
      '/logs',
      '/goals',
      '/programs',
      '/records',
      '/notifications',
      '/auth/nothing'
    ]
  ) {
    const none = await call(base + path)
    t.equal(none.status, 401, path)
    t.match(none.json(), { success: false, code: 'UNAUTHORIZED' })
    const refused = await call(base + path, { headers: bad })
    t.equal(refused.status, 401)
    t.match(refused.json(), { success: false, code: 'INVALID_ACCESS_TOKEN' })
  }
  for (
    const [path, method] of [['/auth/sessions', 'GET'], ['/auth/sessions', 'POST'], [
      '/auth/set-initial-password',
      'POST'
    ]] as const
  ) {
    for (const headers of [undefined, bad, as('s', { exp: 1 })]) {
      t.match((await call(base + path, { method, headers })).json(), { code: 'UNAUTHORIZED' })
    }
  }
  t.match((await call(`${base}/feed`, { headers: as('s', { exp: 1 }) })).json(), { code: 'INVALID_ACCESS_TOKEN' })
  t.strictSame(Object.values(services).flatMap(({ received }) => received), [])
})

t.test('exactly these routes are public', async (t) => {
  const { call } = await testGateway(t)
  const open = [
    ...[
      'check-email',
      'login',
      'register',
      'verify-email',
      'resend-verification',
      'provider-a',
      'provider-b',
      'refresh',
      'forgot-password',
      'reset-password',
      'report-issue',
      'request-code',
      'login-code'
    ].map((name) => `POST /auth/${name}`),
    'GET /auth/reset-password?token=x&email=y',
    'GET /onboarding/options?type=sport',
    'GET /locations?type=countries',
    'GET /locations/x',
    'GET /meta'
  ]
  for (const route of open) {
    const [method, path] = route.split(' ')
    t.equal((await call(base + path, { method })).status, 200, route)
    t.equal(
      (await call(base + path, { method, headers: { authorization: 'Basic x' } })).status,
      200,
      'with any Authorization header'
    )
    const other = method === 'POST' ? 'PUT' : 'POST'
    if (!path?.startsWith('/auth/reset-password') && path !== '/meta') {
      t.equal((await call(base + path, { method: other })).status, 401, `${other} ${path}`)
    }
  }
})

t.test('without keys the response is 503, never 401', async (t) => {
  const { call, as, services, issuer } = await testGateway(t, { keys: false })
  const answer = await call(`${base}/feed`, { headers: as() })
  t.match(answer, { status: 503, headers: { 'retry-after': /\d/ } })
  t.match(answer.json(), { code: 'SERVICE_UNAVAILABLE' })
  t.match(await call('/health/ready'), { status: 503 })
  t.equal((await call(`${base}/auth/login`, { method: 'POST' })).status, 200, 'sign-in needs no key')

  publishKeys(services.identity, [issuer])
  await sleep(1_300)
  t.equal((await call(`${base}/feed`, { headers: as() })).status, 200)
  t.match((await call('/health/ready')).json(), { status: 'ready' })
  await services.identity.stop()
  t.equal((await call(`${base}/feed`, { headers: as() })).status, 200, 'the last keys are kept')
})

t.test('a token of a revoked session is rejected within a second, and still while identity is unavailable', async (t) => {
  const { call, as, revokedSessions, services } = await testGateway(t)
  const [lost, kept] = [as('lost'), as('kept')]
  t.equal((await call(`${base}/feed`, { headers: lost })).status, 200)
  revokedSessions.push('lost')
  await sleep(1_000)
  const answer = await call(`${base}/feed`, { headers: lost })
  t.equal(answer.status, 401)
  t.match(answer.json(), { code: 'INVALID_ACCESS_TOKEN' })
  t.match((await call(`${base}/auth/sessions`, { headers: lost })).json(), { code: 'UNAUTHORIZED' })
  t.equal((await call(`${base}/feed`, { headers: kept })).status, 200)

  await services.identity.stop()
  await sleep(1_200)
  t.equal((await call(`${base}/feed`, { headers: lost })).status, 401)
  t.equal((await call(`${base}/feed`, { headers: kept })).status, 200)
  await services.identity.start()
})

t.test('a gateway without requests does not poll, and its next request knows which sessions are revoked', async (t) => {
  const { call, as, revokedSessions, services } = await testGateway(t)
  const status = async (session: string) => (await call(`${base}/feed`, { headers: as(session) })).status
  let polls = 0
  let onPoll = () => {}
  services.identity.documents.set('/internal/revoked-sessions', () => {
    polls++
    onPoll()
    return { sessions: revokedSessions, until: new Date().toISOString() }
  })
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  // The clock jumps during a poll, so however busy the machine is, no other one follows it.
  async function pause () {
    const then = Date.now()
    await new Promise<void>((resolve) => {
      onPoll = () => {
        Date.now = () => then + 11_000
        resolve()
      }
    })
    onPoll = () => {}
    await sleep(700)
  }

  t.equal(await status('lost'), 200)
  await pause()
  polls = 0
  await sleep(700)
  t.equal(polls, 0)
  revokedSessions.push('lost')
  t.equal(await status('lost'), 401)
  t.equal(polls, 1)
  await sleep(700)
  t.ok(polls > 1, 'it polls again')

  await pause()
  await services.identity.stop()
  t.equal(await status('kept'), 200, 'the last known ones are kept')
  t.equal(await status('lost'), 401)
})

t.test('each poll for revoked sessions overlaps the last one', async (t) => {
  const { services } = await testGateway(t)
  const received: string[] = []
  services.identity.documents.set('/internal/revoked-sessions', (request: { url: string }) => {
    received.push(new URL(request.url, 'http://x').searchParams.get('since') ?? '')
    return { sessions: [], until: '2030-01-01T00:00:10.000Z' }
  })
  await sleep(1_400)
  t.equal(received.at(-1), '2030-01-01T00:00:05.000Z')
})

t.test('keys without a valid signature of a root key are ignored, and so are older key sets', async (t) => {
  const { call, as, services, issuer } = await testGateway(t)
  const feed = async (headers: OutgoingHttpHeaders) => (await call(`${base}/feed`, { headers })).status
  t.equal(await feed(as()), 200)
  const attacker = createIssuer()
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const later = () => {
    const then = Date.now()
    Date.now = () => then + 31_000
  }

  publishKeys(services.identity, [issuer, attacker], { by: createRootKey() })
  later()
  t.equal(await feed(attacker.bearer()), 503, 'it is not known whether identity has this key')
  t.equal(await feed(as()), 200)

  publishKeys(services.identity, [issuer, attacker], { issuedAt: Date.now() - 60_000 })
  later()
  t.equal(await feed(attacker.bearer()), 503)

  publishKeys(services.identity, [issuer], { issuedAt: Date.now() + 31_000 })
  later()
  t.equal(await feed(attacker.bearer()), 401, 'now it is known that it has not')
  t.equal(await feed(as()), 200)
})
