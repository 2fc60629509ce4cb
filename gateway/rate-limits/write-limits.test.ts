import { randomUUID } from 'node:crypto'
import { startRedis } from '@tandem/test-kit'
import tap from 'tap'
import { readGatewayConfig } from '../config.ts'
import { testGateway, waitForRedis } from '../test/gateway.ts'

const base = '/api/mobile/v1'

type Gateway = Awaited<ReturnType<typeof testGateway>>

const statusesOf = async (
  { call }: Gateway,
  times: number,
  method: string,
  path: string,
  headers: object,
  from?: string
) => {
  const answers = await Promise.all(
    Array.from(
      { length: times },
      async () => await call(base + path, { method, headers: { ...headers }, ...(from && { from }) })
    )
  )
  return {
    passed: answers.filter(({ status }) => status === 200).length,
    refused: answers.filter(({ status }) => status === 429)
  }
}

async function checkWrites (t: Pick<typeof tap, 'equal' | 'match' | 'ok'>, gateway: Gateway) {
  const [eve, ana] = [gateway.as(randomUUID(), { sub: randomUUID() }), gateway.as(randomUUID(), { sub: randomUUID() })]
  const comments = await statusesOf(gateway, 70, 'POST', '/feed/1/comment', eve)
  t.equal(comments.passed, 60, '60 comments a minute')
  t.match(comments.refused[0]?.json(), { success: false, code: 'RATE_LIMITED' })
  const wait = Number(comments.refused[0]?.headers['retry-after'])
  t.ok(wait > 30 && wait <= 60, `again in ${wait} s`)
  t.equal(
    (await statusesOf(gateway, 130, 'POST', '/users/1/follow', eve)).passed,
    120,
    '120 follows a minute, independent of comments'
  )
  t.equal(
    (await statusesOf(gateway, 150, 'DELETE', '/feed/1', eve, '127.0.0.3')).passed,
    100,
    '300 writes a minute in all for one account, from any address'
  )
  t.equal((await statusesOf(gateway, 1, 'PUT', '/profile', eve)).passed, 0)
  t.equal((await statusesOf(gateway, 50, 'GET', '/feed/1/comment', eve)).passed, 50, 'reads are not limited')
  t.equal(
    (await statusesOf(gateway, 60, 'POST', '/feed/1/comment', ana)).passed,
    60,
    'another account at the same address is not affected'
  )
}

tap.test('the writes of one account are limited, counted in Redis', async (t) => {
  const redis = await startRedis(t)
  const gateway = await testGateway(t, { redisUrl: redis.url })
  await waitForRedis(gateway)
  await checkWrites(t, gateway)
})

tap.test('the writes of one account are limited while Redis is unavailable', async (t) => {
  await checkWrites(t, await testGateway(t))
})

tap.test('operators configure the write limits', async (t) => {
  const gateway = await testGateway(t, {
    env: { LIMIT_WRITES: 'off', LIMIT_COMMENTS: '2/1m,1/1s', LIMIT_FOLLOWS: 'off' }
  })
  const eve = gateway.as(randomUUID(), { sub: randomUUID() })
  t.equal((await statusesOf(gateway, 2, 'POST', '/feed/1/comment', eve)).passed, 1)
  t.equal((await statusesOf(gateway, 310, 'POST', '/users/1/follow', eve)).passed, 310)
})

tap.test('the posts and comments of one account are limited for a day, too', async (t) => {
  const redis = await startRedis(t)
  const gateway = await testGateway(t, {
    redisUrl: redis.url,
    env: { LIMIT_POSTS: '2/24h', LIMIT_COMMENTS: '9/1m,3/24h' }
  })
  await waitForRedis(gateway)
  const [eve, ana] = [gateway.as(randomUUID(), { sub: randomUUID() }), gateway.as(randomUUID(), { sub: randomUUID() })]
  for (const [path, limit] of [['/feed', 2], ['/feed/1/comment', 3]] as const) {
    const { passed, refused } = await statusesOf(gateway, 6, 'POST', path, eve)
    t.equal(passed, limit, path)
    t.ok(Number(refused[0]?.headers['retry-after']) > 23 * 3_600, 'until the next day')
    t.equal((await statusesOf(gateway, 1, 'POST', path, ana)).passed, 1, 'another account is not affected')
  }
  t.equal((await statusesOf(gateway, 5, 'PUT', '/feed/1', eve)).passed, 5, 'a change of a post is none')
  const day = { max: 5_000, windowMs: 86_400_000 }
  const { writeLimits } = readGatewayConfig((await testGateway(t)).env)
  for (const name of ['LIMIT_POSTS', 'LIMIT_COMMENTS']) t.match(writeLimits.get(name)?.at(-1), day)
})

tap.test('relaxed limits are for local development only', async (t) => {
  const { env } = await testGateway(t)
  const read = (more: NodeJS.ProcessEnv) => readGatewayConfig({ ...env, ...more })
  const loginOf = (more: NodeJS.ProcessEnv) => read(more).limits.get('POST /auth/login')
  t.strictSame(loginOf({}), [{ max: 5, windowMs: 60_000 }])
  t.strictSame(loginOf({ LIMIT_PROFILE: 'relaxed' }), [{ max: 500, windowMs: 60_000 }])
  t.strictSame(
    loginOf({ LIMIT_PROFILE: 'relaxed', LIMIT_AUTH_LOGIN: '7/1m' }),
    [{ max: 7, windowMs: 60_000 }],
    'the factor does not apply to a limit that is set'
  )
  t.throws(() => read({ LIMIT_PROFILE: 'relaxed', NODE_ENV: 'production' }), {
    name: 'ConfigError',
    message: /LIMIT_PROFILE must not be relaxed where NODE_ENV is production/
  })
  t.throws(() => read({ LIMIT_PROFILE: 'none' }), { name: 'ConfigError' })
  t.strictSame(read({}).floodLimit, { max: 6_000, windowMs: 60_000 }, 'floods are limited by default')
})

tap.test('a 429 tells only callers on this machine how to lift the limit', async (t) => {
  const errorOf = async ({ call }: Gateway, headers: object = {}) => {
    for (let i = 0; i < 5; i++) await call(`${base}/auth/login`, { method: 'POST', headers: { ...headers } })
    return (await call(`${base}/auth/login`, { method: 'POST', headers: { ...headers } })).json()
  }
  t.match(await errorOf(await testGateway(t)), { success: false, code: 'RATE_LIMITED', error: /LIMIT_PROFILE=relaxed/ })
  t.notMatch(
    await errorOf(await testGateway(t, { env: { TRUST_PROXY: 'loopback' } }), { 'x-forwarded-for': '203.0.113.7' }),
    { error: /LIMIT_PROFILE/ }
  )
  t.notMatch(await errorOf(await testGateway(t, { env: { NODE_ENV: 'production' } })), { error: /LIMIT_PROFILE/ })
})
