import t from 'tap'
import { startRedis } from '@tandem/test-kit'
import { silentLog } from '@tandem/http-kit/testing'
import { createStatsCache } from './cache.ts'
import { exampleStats } from './schemas.ts'
import { examplePerson, testApp, water, workout } from '../test/app.ts'

const redis = await startRedis(t)
const cache = createStatsCache(redis.url, silentLog)
t.teardown(() => cache.close())
const until = async (check: () => Promise<unknown>) => {
  for (let tries = 0; tries < 100; tries++) {
    if (await check().then(() => true, () => false)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it never came true')
}
await until(() => cache.ready())
const { newUser, at, setFakes, clock } = await testApp(t, { cache })

const now = '2026-11-20T05:00:00Z'

t.test('statistics are cached for exactly one minute', async (t) => {
  const { account, read } = newUser({ now })
  const first = await read('/dashboard/stats')
  t.equal(first.updatedAt, '2026-11-20T05:00:00.000Z')
  at('2026-11-20T05:00:30Z')
  t.same(await read('/dashboard/stats'), first)
  const cached = await cache.get(account)
  t.same(cached, first)
  const { Redis } = await import('ioredis')
  const client = new Redis(redis.url)
  t.ok(await client.ttl(`tandem:dashboard:stats:v1:${account}`) > 55)
  await client.del(`tandem:dashboard:stats:v1:${account}`)
  client.disconnect()
  t.equal((await read('/dashboard/stats')).updatedAt, '2026-11-20T05:00:30.000Z')
})

t.test('a response is kept for its minute whatever is logged; the home screen has the new log at once', async (t) => {
  const { log, read, send } = newUser({ now })
  const first = await read('/dashboard/stats')
  const [written] = await log(workout(now))
  at('2026-11-20T05:00:40Z')
  t.same(await read('/dashboard/stats'), first)
  t.equal((await read('/dashboard/home')).stats.totalWorkouts, 1)
  await send('DELETE', `/logs/${written?.id}`)
  t.same(await read('/dashboard/stats'), first)
})

t.test('of concurrent requests that compute the statistics, all return the same ones', async (t) => {
  const { account } = newUser({ now })
  const computed = Array.from(
    { length: 6 },
    (_, second) => ({ stats: exampleStats, updatedAt: `2026-11-20T05:00:0${second}.000Z` })
  )
  const returned = await Promise.all(computed.map(async (each) => await cache.set(account, each, 60_000)))
  t.equal(new Set(returned.map(({ updatedAt }) => updatedAt)).size, 1)
  t.same(await cache.get(account), returned[0])
})

t.test('statistics are not cached past midnight', async (t) => {
  const { account, read } = newUser({ now: '2026-11-20T16:59:58.500Z' })
  await read('/dashboard/stats')
  t.ok(await cache.get(account))
  const late = newUser({ now: '2026-11-20T16:59:59.500Z' })
  await late.read('/dashboard/stats')
  await new Promise((resolve) => setTimeout(resolve, 550))
  t.equal(await cache.get(late.account), undefined)
})

t.test('without Redis the statistics are correct and current', async (t) => {
  const { log, read } = newUser({ now })
  await read('/dashboard/stats')
  await redis.stop()
  await log(workout(now))
  t.match(await read('/dashboard/stats'), { stats: { totalWorkouts: 1 } })
  clock.now = new Date('2026-11-20T05:00:10Z')
  t.equal((await read('/dashboard/stats')).updatedAt, '2026-11-20T05:00:10.000Z')
  await t.rejects(cache.ready())
  await redis.start()
  await until(() => cache.ready())
})

t.test('the statistics are the same as on the home screen', async (t) => {
  const { log, read } = newUser({ now })
  setFakes({ person: examplePerson('Asia/Tokyo') })
  await log(workout(now), water(now))
  t.same((await read('/dashboard/stats')).stats, (await read('/dashboard/home')).stats)
})
