// Serial: it measures how long responses take.
import { startRedis } from '@tandem/test-kit'
import tap from 'tap'
import { testGateway, waitForRedis } from '../test/gateway.ts'

const base = '/api/mobile/v1'
/** The documented limit of each route: how many requests in how many seconds. */
const limits = {
  'check-email': [10, 60],
  login: [5, 60],
  register: [3, 3600],
  'verify-email': [10, 900],
  'resend-verification': [2, 300],
  'request-code': [2, 300],
  'login-code': [10, 900],
  'provider-a': [10, 900],
  'provider-b': [10, 900],
  refresh: [30, 60],
  sessions: [3, 3600],
  'set-initial-password': [3, 3600],
  'forgot-password': [3, 3600],
  'report-issue': [3, 3600]
} as const

async function checkEach (
  t: Pick<typeof tap, 'equal' | 'match' | 'ok'>,
  { call, as }: Awaited<ReturnType<typeof testGateway>>,
  from: string,
  other: string
) {
  for (const [name, [max, seconds]] of Object.entries(limits)) {
    const attempt = (from: string) => call(`${base}/auth/${name}`, { method: 'POST', headers: as(), from })
    // All at once: sequential requests would not show a race.
    const answers = await Promise.all(Array.from({ length: max + 3 }, () => attempt(from)))
    t.equal(answers.filter(({ status }) => status === 200).length, max, `${max} of ${name} pass`)
    const refused = answers.filter(({ status }) => status === 429)
    t.equal(refused.length, 3, 'and no more')
    for (const answer of refused) {
      t.match(answer.json(), { success: false, code: 'RATE_LIMITED' })
      const wait = Number(answer.headers['retry-after'])
      t.ok(wait > seconds - 30 && wait <= seconds, `again in ${wait} s of ${seconds}`)
      t.ok(answer.ms < 500, `${answer.ms} ms`)
    }
    t.equal((await attempt(other)).status, 200, 'another address is not affected')
  }
}

tap.test('each limit holds, counted in Redis', async (t) => {
  const redis = await startRedis(t)
  const gateway = await testGateway(t, { redisUrl: redis.url })
  await waitForRedis(gateway)
  await checkEach(t, gateway, '127.1.0.1', '127.1.0.2')
  t.equal(
    (await gateway.call(`${base}/auth/sessions`, { headers: gateway.as(), from: '127.1.0.1' })).status,
    200,
    'reads are not limited'
  )

  const second = await testGateway(t, { redisUrl: redis.url })
  await waitForRedis(second)
  t.equal(
    (await second.call(`${base}/auth/login`, { method: 'POST', from: '127.1.0.1' })).status,
    429,
    'all gateways count together'
  )
})

tap.test('each limit holds in memory while Redis is unavailable', async (t) => {
  await checkEach(t, await testGateway(t), '127.2.0.1', '127.2.0.2')
})

tap.test('killing or emptying Redis resets no count and delays no request', async (t) => {
  const redis = await startRedis(t)
  const gateway = await testGateway(t, { redisUrl: redis.url })
  await waitForRedis(gateway)
  const attempt = (from: string) => gateway.call(`${base}/auth/login`, { method: 'POST', from })
  for (let i = 0; i < 3; i++) t.equal((await attempt('127.3.0.1')).status, 200)
  await redis.kill()
  const statuses = []
  for (let i = 0; i < 4; i++) {
    const { status, ms } = await attempt('127.3.0.1')
    statuses.push(status)
    t.ok(ms < 200, `${ms} ms`)
  }
  t.strictSame(statuses, [200, 200, 429, 429])
  await redis.wipe()
  await redis.start()
  await waitForRedis(gateway)
  t.equal((await attempt('127.3.0.1')).status, 429)
  t.equal((await attempt('127.3.0.2')).status, 200)
})

tap.test('a Redis that hangs delays no request', async (t) => {
  const redis = await startRedis(t)
  const gateway = await testGateway(t, { redisUrl: redis.url })
  await waitForRedis(gateway)
  process.kill(redis.pid ?? 0, 'SIGSTOP')
  t.teardown(() => process.kill(redis.pid ?? 0, 'SIGCONT'))
  const answers = []
  for (let i = 0; i < 6; i++) {
    answers.push(await gateway.call(`${base}/auth/login`, { method: 'POST', from: '127.4.0.1' }))
  }
  t.strictSame(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429])
  t.ok(answers.every(({ ms }) => ms < 250), answers.map(({ ms }) => Math.round(ms)).join(' '))
})
