import t from 'tap'
import { startRedis } from '@tandem/local/testing'
import { silentLog } from '@tandem/service-kit/testing'
import { createStatsCache } from './cache.ts'
import { somePerson, testApp, water, workout } from '../test/app.ts'

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
const { someone, at, others, clock } = await testApp(t, { cache })

const now = '2026-11-20T05:00:00Z'

t.test('statistics are kept for a minute, and not beyond', async (t) => {
  const { account, read } = someone({ now })
  const first = await read('/dashboard/stats')
  t.equal(first.updatedAt, '2026-11-20T05:00:00.000Z')
  at('2026-11-20T05:00:30Z')
  t.same(await read('/dashboard/stats'), first)
  const kept = await cache.find(account)
  t.same(kept, first)
  const { Redis } = await import('ioredis')
  const client = new Redis(redis.url)
  t.ok(await client.ttl(`tandem:dashboard:stats:v1:${account}`) > 55)
  await client.del(`tandem:dashboard:stats:v1:${account}`)
  client.disconnect()
  t.equal((await read('/dashboard/stats')).updatedAt, '2026-11-20T05:00:30.000Z')
})

t.test('what was logged is seen in the very next request', async (t) => {
  const { log, read, send } = someone({ now })
  await read('/dashboard/stats')
  const [written] = await log(workout(now))
  t.equal((await read('/dashboard/stats')).stats.totalWorkouts, 1)
  await send('DELETE', `/logs/${written?.id}`)
  t.equal((await read('/dashboard/stats')).stats.totalWorkouts, 0)
})

t.test('what was reckoned before a change is not kept after it', async (t) => {
  const { account, read } = someone({ now })
  const old = await read('/dashboard/stats')
  await cache.forget(account)
  await cache.keep(account, old, 60)
  t.equal(await cache.find(account), undefined)
})

t.test('statistics are not kept beyond midnight', async (t) => {
  const { account, read } = someone({ now: '2026-11-20T16:59:58.500Z' })
  await read('/dashboard/stats')
  t.ok(await cache.find(account))
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  t.equal(await cache.find(account), undefined)
})

t.test('without Redis everything is right, and new', async (t) => {
  const { log, read } = someone({ now })
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

t.test('stats are the same as at home', async (t) => {
  const { log, read } = someone({ now })
  others({ person: somePerson('Asia/Tokyo') })
  await log(workout(now), water(now))
  t.same((await read('/dashboard/stats')).stats, (await read('/dashboard/home')).stats)
})
