import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serializeByAccount } from './serialize-by-account.ts'

t.test('work of one key is done one after the other, that of others beside it', async (t) => {
  const inTurn = serializeByAccount()
  const log: string[] = []
  const work = (name: string, ms: number) => async () => {
    log.push(`${name} begins`)
    await sleep(ms)
    log.push(`${name} ends`)
    return name
  }
  t.strictSame(await Promise.all([inTurn('a', work('a1', 40)), inTurn('a', work('a2', 1)), inTurn('b', work('b1', 1))]), ['a1', 'a2', 'b1'])
  t.strictSame(log, ['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'])
})

t.test('no more than are allowed wait, and whoever is refused or fails leaves the place to others', async (t) => {
  const inTurn = serializeByAccount({ maxWaiting: 2 })
  const fail = async () => { throw new Error('broken') }
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.allSettled([fail, async () => 2, async () => 3, async () => 4].map(async (work) => await inTurn('a', work)))
    t.match(answers, [{ reason: { message: 'broken' } }, { value: 2 }, { value: 3 }, { reason: { code: 'RATE_LIMITED', statusCode: 429 } }])
  }
  t.equal(await inTurn('a', async () => 'again'), 'again')
})
