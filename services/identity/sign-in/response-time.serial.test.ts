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
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length / 2]!
  const [known, unknown] = [median(times.known), median(times.unknown)]
  t.comment(`medians: known ${known.toFixed(2)} ms, unknown ${unknown.toFixed(2)} ms`)
  t.ok(Math.abs(known - unknown) < 0.25 * known)
})
