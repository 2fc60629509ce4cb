import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serializeByAccount } from './serialize-by-account.ts'

t.test('work of one account runs sequentially, work of others in parallel', async (t) => {
  const serialize = serializeByAccount()
  const log: string[] = []
  const work = (name: string, ms: number) => async () => {
    log.push(`${name} begins`)
    await sleep(ms)
    log.push(`${name} ends`)
    return name
  }
  t.strictSame(
    await Promise.all([serialize('a', work('a1', 40)), serialize('a', work('a2', 1)), serialize('b', work('b1', 1))]),
    ['a1', 'a2', 'b1']
  )
  t.strictSame(log, ['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'])
})

t.test('waiting calls are limited, and a rejected or failed call frees its place', async (t) => {
  const serialize = serializeByAccount({ maxWaiting: 2 })
  const fail = async () => {
    throw new Error('broken')
  }
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.allSettled(
      [fail, async () => 2, async () => 3, async () => 4].map(async (work) => await serialize('a', work))
    )
    t.match(answers, [{ reason: { message: 'broken' } }, { value: 2 }, { value: 3 }, {
      reason: { code: 'RATE_LIMITED', statusCode: 429 }
    }])
  }
  t.equal(await serialize('a', async () => 'again'), 'again')
})

t.test('the work of one account takes at most its share of the time, and that of others does not wait', async (t) => {
  const serialize = serializeByAccount({ maxShare: 0.25 })
  const start = performance.now()
  const elapsed = async () => performance.now() - start
  await serialize('a', async () => await sleep(40))
  const other = await serialize('b', elapsed)
  const second = await serialize('a', elapsed)
  t.ok(second >= 150, `the second work starts after ${Math.round(second)} ms of 160`)
  t.ok(other < second, 'another account works meanwhile')
})
