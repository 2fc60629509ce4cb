import t from 'tap'
import { deleteExpiredQuotas, readDailyQuota, useDailyQuota, type DailyQuotaTables } from './daily-quota.ts'
import { testDatabase } from './testing.ts'

const HOUR_MS = 60 * 60 * 1_000
const at = (time: string) => new Date(`2026-${time}:00Z`)

/** The day that it is at `now` where clocks are `offset` hours ahead of UTC. */
function dayIn (offset: number, now: Date) {
  const startsAt = Math.floor((now.getTime() / HOUR_MS + offset) / 24) * 24 - offset
  return { startsAt: new Date(startsAt * HOUR_MS), endsAt: new Date((startsAt + 24) * HOUR_MS) }
}

const { db } = await testDatabase<DailyQuotaTables>(t, import.meta.dirname)

/** An account with a quota of three a day. */
function someAccount () {
  const accountId = crypto.randomUUID()
  const quota = { name: 'uploads', accountId }
  return {
    use: async (day: ReturnType<typeof dayIn>, overrides: { name?: string, limit?: number, amount?: number } = {}) =>
      await db.transaction().execute(async (trx) =>
        await useDailyQuota(trx, { ...quota, day, limit: 3, ...overrides })
      ),
    read: async (day: ReturnType<typeof dayIn>) => await readDailyQuota(db, { ...quota, day })
  }
}

t.test('parallel requests use a quota exactly, for each account, each quota and each day', async (t) => {
  const { use, read } = someAccount()
  const [today, tomorrow] = [dayIn(7, at('01-31T03:00')), dayIn(7, at('02-01T03:00'))]
  const results = await Promise.all(Array.from({ length: 8 }, async () => await use(today)))
  t.same(results.filter((used) => used !== undefined).sort((one, other) => one - other), [1, 2, 3])
  t.equal(await use(today, { name: 'others' }), 1)
  t.equal(await someAccount().use(today), 1)
  t.equal(await use(today, { limit: 5 }), 4, 'a higher limit continues the count')
  t.equal(await use(today, { limit: 6, amount: 3 }), undefined, 'all or none')
  t.equal(await use(today, { limit: 6, amount: 2 }), 6)
  t.equal(await read(today), 6)
  t.equal(await read(tomorrow), 0)
  t.equal(await use(tomorrow), 1)
  t.equal(await read(tomorrow), 1)
  t.equal(await someAccount().use(today, { limit: 0 }), undefined)
})

t.test('parallel requests in different time zones use one day', async (t) => {
  const { use } = someAccount()
  const results = await Promise.all(
    [-12, -11, 0, 7, 13, 14].flatMap((offset) => [1, 2, 3].map(async () => await use(dayIn(offset, at('06-15T10:30')))))
  )
  t.equal(results.filter((used) => used !== undefined).length, 3)
})

t.test('whatever time zones an account takes from hour to hour, a day never gives more than its limit', async (t) => {
  const { use } = someAccount()
  const uses: number[] = []
  const first = at('06-15T10:30').getTime()
  // Greedy: each hour it tries every time zone there is.
  for (let now = first; now < first + 3 * 24 * HOUR_MS; now += HOUR_MS) {
    for (let offset = -12; offset <= 14; offset++) {
      if (await use(dayIn(offset, new Date(now)), { amount: 3 }) !== undefined) uses.push(now)
    }
  }
  t.equal(uses.length, 4, 'a first day that ends at once, and three')
  const days = uses.slice(1).map((now, index) => (now - uses[index]!) / HOUR_MS)
  t.ok(days.slice(1).every((hours) => hours >= 24), days.join(' '))
})

t.test('travellers have one longer day, and then days of the place where they are', async (t) => {
  const [jakarta, losAngeles] = [7, -7]
  for (
    const { from, to, longDayEnds } of [
      { from: jakarta, to: losAngeles, longDayEnds: at('06-16T07:00') },
      { from: losAngeles, to: jakarta, longDayEnds: at('06-16T17:00') }
    ]
  ) {
    const { use, read } = someAccount()
    const takeOff = at('06-15T10:00')
    t.equal(await use(dayIn(from, takeOff), { amount: 3 }), 3)
    for (let now = takeOff.getTime(); now < longDayEnds.getTime(); now += HOUR_MS) {
      t.equal(await read(dayIn(to, new Date(now))), 3, new Date(now).toISOString())
    }
    t.equal(await use(dayIn(to, longDayEnds), { amount: 3 }), 3)
    const nextDay = new Date(longDayEnds.getTime() + 24 * HOUR_MS)
    t.equal(await read(dayIn(to, new Date(nextDay.getTime() - 1))), 3)
    t.equal(await use(dayIn(to, nextDay), { amount: 3 }), 3)
  }
})

t.test('quotas are deleted once their day is over everywhere', async (t) => {
  const { use } = someAccount()
  await db.deleteFrom('daily_quotas').execute()
  await use(dayIn(0, new Date(Date.now() - 4 * 24 * HOUR_MS)))
  await someAccount().use(dayIn(0, new Date(Date.now() - 25 * HOUR_MS)))
  await deleteExpiredQuotas(db)
  t.equal((await db.selectFrom('daily_quotas').select('account_id').execute()).length, 1)
})
