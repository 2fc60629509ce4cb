import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serializeByKey } from './serialize-by-key.ts'

t.test('work of one key never overlaps and keeps its order, whatever fails; that of others is in parallel', async (t) => {
  const serialize = serializeByKey()
  const running = new Map<string, number>()
  const done: Record<string, number[]> = { a: [], b: [] }
  let mostOfAll = 0
  const call = async (key: string, index: number) =>
    await serialize(key, async () => {
      running.set(key, (running.get(key) ?? 0) + 1)
      mostOfAll = Math.max(mostOfAll, [...running.values()].reduce((sum, count) => sum + count))
      t.equal(running.get(key), 1)
      if (index % 3 > 0) await sleep(index % 3)
      running.set(key, 0)
      done[key]!.push(index)
      if (index % 4 === 0) throw new Error('broken')
    })
  for (let round = 0; round < 20; round++) {
    const calls = Array.from({ length: 10 }, (_, index) => ['a', 'b'].map(async (key) => await call(key, index)))
    const results = await Promise.allSettled(calls.flat())
    t.equal(results.filter(({ status }) => status === 'rejected').length, 6)
    t.same(done['a']!.splice(0), Array.from({ length: 10 }).keys().toArray())
    t.same(done['b']!.splice(0), Array.from({ length: 10 }).keys().toArray())
  }
  t.equal(mostOfAll, 2)
})

t.test('a call that finds too many waiting is refused, and the next one after them is not', async (t) => {
  const serialize = serializeByKey({ maxWaiting: 1, createError: () => new RangeError('full') })
  const calls = [1, 2, 3].map(async (number) => await serialize('a', async () => await sleep(1, number)))
  t.match(await Promise.allSettled(calls), [{ value: 1 }, { value: 2 }, { reason: new RangeError('full') }])
  t.equal(await serialize('a', async () => 4), 4)
})
