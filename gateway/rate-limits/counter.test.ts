import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '@tandem/http-kit/testing'
import { startRedis, until } from '@tandem/test-kit'
import tap from 'tap'
import { createRedisCounter } from './counter.ts'

tap.test('attempts keep their own counts if only some of them waited for Redis too long', async (t) => {
  const redis = await startRedis(t)
  const counter = createRedisCounter(redis.url, silentLog)
  t.teardown(() => counter.close())
  await until(() => counter.isShared())
  // Redis knows the script from here on.
  await counter.count('another', 60_000)
  const count = async () => (await counter.count('someone', 60_000)).current

  process.kill(redis.pid!, 'SIGSTOP')
  const first = count()
  const third = first.then(count)
  await sleep(60)
  const second = count()
  await sleep(30)
  // The first times out before the response to the second is read: timers run directly after an immediate.
  await setImmediate()
  process.kill(redis.pid!, 'SIGCONT')
  const since = performance.now()
  while (performance.now() - since < 20);

  t.strictSame(new Set([await first, await second, await third]), new Set([1, 2, 3]))
  t.equal(await count(), 4)
})
