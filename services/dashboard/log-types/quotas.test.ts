import t from 'tap'
import { measured, testApp, watch, water } from '../test/app.ts'

const { newUser, db } = await testApp(t)
const now = '2026-11-20T05:00:00Z'
const MEGABYTE = 1024 * 1024

type User = ReturnType<typeof newUser>

const heartRates = (count: number) =>
  measured('HEART_RATE', watch, ['2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z'], {
    samples: Array.from({ length: count }, (_, index) => ({
      at: new Date(Date.parse('2026-11-20T01:00:00Z') + index * 500).toISOString(),
      bpm: 60 + index % 50
    }))
  })

async function useUp ({ account }: User, name: string, used: number) {
  const ends_at = new Date(Date.now() + 24 * 60 * 60 * 1_000)
  await db.insertInto('daily_quotas').values({ account_id: account, name, used, ends_at })
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doUpdateSet({ used })).execute()
}

async function isRefused (user: User, item: object) {
  const response = await user.send('POST', '/logs/batch', { items: [item] })
  if (response.statusCode === 200) return false
  t.match({ status: response.statusCode, ...response.json() }, { status: 429, code: 'LIMIT_EXCEEDED' })
  return true
}

t.test('an account writes 100 MB of logs a day', async (t) => {
  const user = newUser({ now })
  await useUp(user, 'bytes of logs', 100 * MEGABYTE - 250)
  t.equal(await isRefused(user, water(now, 100)), false)
  const deletion = { clientId: 'never arrived', deleted: true }
  t.equal(await isRefused(user, deletion), false)
  t.equal(await isRefused(user, { ...deletion, clientId: 'nor did this' }), true, 'tombstones count too')
  t.equal(await isRefused(user, deletion), false, 'but not twice')
  t.equal(await isRefused(user, water(now, 100)), true)
  t.equal((await user.read('/logs')).logs.length, 1)
  t.equal(await isRefused(newUser({ now }), water(now, 100)), false)
})

t.test('what is computed again from many logs has a limit for a day, and ordinary logs are not counted', async (t) => {
  const user = newUser({ now })
  t.equal(await isRefused(user, heartRates(7_000)), false)
  const quota = await db.selectFrom('daily_quotas').where('account_id', '=', user.account)
    .where('name', '=', 'bytes of logs read again').select('used').executeTakeFirstOrThrow()
  t.ok(quota.used > MEGABYTE / 4 && quota.used < MEGABYTE)
  await useUp(user, 'bytes of logs read again', 500 * MEGABYTE - 1)
  t.equal(await isRefused(user, heartRates(1)), true)
  t.equal(await isRefused(user, water(now, 100)), false)
  const other = newUser({ now })
  await useUp(other, 'bytes of logs read again', 500 * MEGABYTE - 1)
  t.equal(await isRefused(other, heartRates(10)), false)
})

t.test('logs that are too many to read at once are refused, and nothing is written', async (t) => {
  const user = newUser({ now })
  await user.log(heartRates(10))
  await db.updateTable('logs').where('account_id', '=', user.account).set({ bytes: 17 * MEGABYTE }).execute()
  t.equal(await isRefused(user, heartRates(10)), true)
  t.equal((await db.selectFrom('logs').where('account_id', '=', user.account).select('id').execute()).length, 1)
})
