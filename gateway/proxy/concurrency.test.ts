import t from 'tap'
import { createConcurrencyLimiter } from './concurrency.ts'

t.test('an owner has so many slots, the rest wait in order, and a full queue refuses', async (t) => {
  const { acquire, isWaiting } = createConcurrencyLimiter({ concurrency: 2, maxQueued: 2, maxWaitMs: 60_000 })
  const order: number[] = []
  const release = [await acquire('a'), await acquire('a')]
  t.notOk(isWaiting('a'))
  const waiting = [1, 2].map(async (number) => {
    const free = await acquire('a')
    order.push(number)
    free()
  })
  t.ok(isWaiting('a'))
  await t.rejects(acquire('a'), { code: 'SERVICE_UNAVAILABLE' })
  t.notOk(isWaiting('b'))
  ;(await acquire('b'))()
  t.same(order, [], 'they wait until a slot is free')
  release[0]!()
  await Promise.all(waiting)
  t.same(order, [1, 2])
  release[1]!()
  t.notOk(isWaiting('a'))
})

t.test('who waits too long leaves the queue, which then has room for others', async (t) => {
  const { acquire, isWaiting } = createConcurrencyLimiter({ concurrency: 1, maxQueued: 1, maxWaitMs: 20 })
  for (let round = 0; round < 3; round++) {
    const free = await acquire('a')
    for (let turn = 0; turn < 3; turn++) await t.rejects(acquire('a'), { code: 'SERVICE_UNAVAILABLE' })
    t.notOk(isWaiting('a'))
    const next = acquire('a')
    t.ok(isWaiting('a'))
    free()
    ;(await next)()
  }
})
