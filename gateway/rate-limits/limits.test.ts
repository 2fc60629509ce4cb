import { startRedis } from '@tandem/test-kit'
import { createRootKey } from '@tandem/http-kit/testing'
import { registry } from '@tandem/process-kit'
import tap from 'tap'
import { serviceNames } from '../routes.ts'
import { readGatewayConfig } from '../config.ts'
import { createMemoryCounter } from './memory-counter.ts'
import { createIssuer, testGateway, waitForRedis } from '../test/gateway.ts'

const base = '/api/mobile/v1'
tap.test('a metric tells whether a gateway counts by itself, also if it started without Redis', async (t) => {
  const countsAlone = async () => (await registry.getSingleMetric('gateway_limits_local')?.get())?.values[0]?.value
  await testGateway(t)
  t.equal(await countsAlone(), 1)

  const redis = await startRedis(t)
  await waitForRedis(await testGateway(t, { redisUrl: redis.url }))
  t.equal(await countsAlone(), 0)
  await redis.kill()
  while (await countsAlone() !== 1) await new Promise((resolve) => setTimeout(resolve, 20))
})

tap.test('a forged X-Forwarded-For does not bypass a limit', async (t) => {
  const { call } = await testGateway(t)
  const answers = await Promise.all(
    Array.from(
      { length: 11 },
      (_, i) => call(`${base}/auth/check-email`, { method: 'POST', headers: { 'x-forwarded-for': `9.9.9.${i}` } })
    )
  )
  t.equal(answers.filter(({ status }) => status === 429).length, 1)
  for (const { status, headers } of answers) {
    t.match(
      headers,
      { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': /^\d+$/, 'x-frame-options': 'DENY' },
      `${status}`
    )
  }
})

tap.test('the /64 of an IPv6 address is one client, also behind a trusted proxy', async (t) => {
  const { call } = await testGateway(t, { env: { TRUST_PROXY: 'loopback' } })
  const attempt = (address: string) =>
    call(`${base}/auth/resend-verification`, { method: 'POST', headers: { 'x-forwarded-for': address } })
  t.equal((await attempt('2001:db8:1:2::1')).status, 200)
  t.equal((await attempt('2001:db8:1:2:ffff::9')).status, 200)
  t.equal((await attempt('2001:db8:1:2:abcd::')).status, 429)
  t.equal((await attempt('2001:db8:1:3::1')).status, 200)
  t.equal((await attempt('198.51.100.7')).status, 200)
})

tap.test('requests without a token do not use up the limit of signed-in clients', async (t) => {
  const { call, as } = await testGateway(t)
  for (let i = 0; i < 5; i++) t.equal((await call(`${base}/auth/sessions`, { method: 'POST' })).status, 401)
  t.equal((await call(`${base}/auth/sessions`, { method: 'POST', headers: as() })).status, 200)
})

tap.test('operators can change a limit, lift it, or set the flood limit', async (t) => {
  const { call, as } = await testGateway(t, {
    env: { LIMIT_AUTH_LOGIN: '2/10s', LIMIT_AUTH_REGISTER: 'off', FLOOD_LIMIT: '12/1m' }
  })
  const post = async (path: string) => (await call(base + path, { method: 'POST' })).status
  t.strictSame([await post('/auth/login'), await post('/auth/login'), await post('/auth/login')], [200, 200, 429])
  t.strictSame([
    await post('/auth/register'),
    await post('/auth/register'),
    await post('/auth/register'),
    await post('/auth/register')
  ], [200, 200, 200, 200])
  const statuses = []
  let ms = 0
  for (let i = 0; i < 6; i++) {
    const response = await call(`${base}/feed`, { headers: as() })
    statuses.push(response.status)
    ms = response.ms
  }
  t.strictSame(statuses, [200, 200, 200, 200, 200, 429])
  t.ok(ms >= 990, `a flood is refused slowly: after ${Math.round(ms)} ms`)
  t.equal((await call('/health/live')).status, 200)
})

tap.test('the methods of a route share its limit', async (t) => {
  const { call } = await testGateway(t, { env: { LIMIT_ACCOUNT_EXPORT_FILE: '2/1m' } })
  const attempt = async (method: string) => (await call(`${base}/account/export/file?token=t`, { method })).status
  t.strictSame([await attempt('HEAD'), await attempt('GET'), await attempt('GET'), await attempt('HEAD')], [
    200,
    200,
    429,
    429
  ])
})

tap.test('the flood limit also counts requests without a valid token, and those of an app that is too old', async (t) => {
  const { call, as } = await testGateway(t, { env: { FLOOD_LIMIT: '4/1m', MIN_APP_VERSION_IOS: '2.0' } })
  const forged = createIssuer().bearer()
  const tooOld = { ...as(), 'x-platform': 'ios', 'x-app-version': '1.0' }
  const statuses = []
  for (const headers of [{}, forged, tooOld, {}, forged, as()]) {
    statuses.push((await call(`${base}/feed`, { headers })).status)
  }
  t.strictSame(statuses, [401, 401, 426, 401, 429, 429])
})

tap.test('a route can have a second limit per day, which does not count what the shorter one rejects', async (t) => {
  const redis = await startRedis(t)
  for (const options of [{}, { redisUrl: redis.url }]) {
    const gateway = await testGateway(t, { ...options, env: { LIMIT_AUTH_CHECK_EMAIL: '5/24h,3/1s' } })
    if ('redisUrl' in options) await waitForRedis(gateway)
    const attempt = async (from: string) => await gateway.call(`${base}/auth/check-email`, { method: 'POST', from })
    const statuses = async (times: number) =>
      (await Promise.all(Array.from({ length: times }, async () => await attempt('127.5.0.1')))).map(({ status }) =>
        status
      ).sort((a, b) => a - b)
    t.strictSame(await statuses(5), [200, 200, 200, 429, 429])
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    t.strictSame(await statuses(3), [200, 200, 429])
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    const refused = await attempt('127.5.0.1')
    t.match(refused.json(), { success: false, code: 'RATE_LIMITED' })
    t.ok(Number(refused.headers['retry-after']) > 86_300)
    t.equal((await attempt('127.5.0.2')).status, 200, 'another address is not affected')
    const { data } = (await gateway.call(`${base}/meta`)).json() as { data: { limits: { rates: object[] } } }
    t.match(data.limits.rates.filter((rate) => 'route' in rate && rate.route === 'POST /auth/check-email'), [{
      max: 3,
      windowSeconds: 1
    }, { max: 5, windowSeconds: 86_400 }])
  }
})

tap.test('an invalid limit is named in the error', async (t) => {
  const env = {
    REDIS_URL: 'redis://x',
    IDENTITY_ROOT_PUBLIC_KEYS: createRootKey().publicText,
    ...Object.fromEntries(
      serviceNames.map((name) => [`${name.toUpperCase()}_URL`, 'http://x'])
    )
  }
  t.throws(() => readGatewayConfig({ ...env, LIMIT_AUTH_LOGIN: 'five', LIMIT_AUTH_LOGON: '5/1m' }), {
    name: 'ConfigError',
    message: /^LIMIT_AUTH_LOGIN must be .*\nLIMIT_AUTH_LOGON is not a limit/
  })
  t.throws(() => readGatewayConfig({ ...env, CORS_ORIGINS: 'example.org' }), { message: /CORS_ORIGINS/ })
  t.throws(() => readGatewayConfig({}), { message: /IDENTITY_URL is missing/ })
  t.strictSame(readGatewayConfig(env).limits.get('POST /auth/login'), [{ max: 5, windowMs: 60_000 }])
  t.strictSame(readGatewayConfig(env).limits.get('POST /auth/check-email'), [{ max: 10, windowMs: 60_000 }, {
    max: 1_000,
    windowMs: 86_400_000
  }])
})

tap.test('a window ends, and the memory counter is bounded', async (t) => {
  let now = 0
  const memory = createMemoryCounter(() => now)
  t.strictSame(memory.count('a', 1_000), { current: 1, ttl: 1_000 })
  now = 999
  t.strictSame(memory.count('a', 1_000), { current: 2, ttl: 1 })
  now = 1_000
  t.strictSame(memory.count('a', 1_000), { current: 1, ttl: 1_000 })
  for (let i = 0; i < 150_000; i++) memory.count(`client ${i}`, 1_000)
  t.equal(memory.count('client 0', 1_000).current, 1, 'dropped')
  t.equal(memory.count('client 149999', 1_000).current, 2)
})
