// Serial because it measures response times.
import t from 'tap'
import { createHashing } from '../passwords/hashing.ts'
import { randomEmail, testApp } from '../test/app.ts'

const { db, givenAccount, login } = await testApp(t, { hashing: await createHashing() })

t.test('the response time does not reveal a known address', async (t) => {
  const { email } = await givenAccount()
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let round = 0; round < 60; round++) {
    for (const [kind, address] of [['known', email], ['unknown', randomEmail()]] as const) {
      const since = performance.now()
      await login(address, { password: `Wrong-${round}` })
      times[kind].push(performance.now() - since)
    }
    await db.deleteFrom('failed_password_attempts').execute()
  }
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length / 2]!
  // Of one round, as the speed of a busy machine changes from one to the next.
  const difference = median(times.known.map((ms, round) => ms - times.unknown[round]!))
  t.comment(`known addresses take ${difference.toFixed(2)} ms of ${median(times.known).toFixed(2)} ms more`)
  t.ok(Math.abs(difference) < 0.25 * median(times.known))
})
