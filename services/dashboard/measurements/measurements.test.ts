import t from 'tap'
import { sql } from 'kysely'
import { runHousekeeping } from '../housekeeping.ts'
import { measured, phone, testApp, watch } from '../test/app.ts'

const { newUser, db } = await testApp(t)

const at = (minutes: number) => new Date(Date.parse('2026-11-20T01:00:00Z') + minutes * 60_000).toISOString()
const steps = ([from, to]: [number, number], source: typeof watch, count: number, more: object = {}) =>
  measured('STEPS', source, [at(from), at(to)], { count }, more)
const today = async ({ read }: Pick<ReturnType<typeof newUser>, 'read'>) => (await read('/dashboard/home')).today

t.test('of each minute only the best source counts, never the sum', async (t) => {
  const user = newUser()
  await user.log(steps([0, 20], phone, 2_000))
  t.match(await today(user), { steps: 2_000 })
  await user.log(steps([0, 10], watch, 900))
  t.match(await today(user), { steps: 900 + 1_000 })
  const [, second] = await user.log(steps([0, 10], watch, 100), steps([10, 20], watch, 500, { externalId: 'late' }))
  t.match(await today(user), { steps: 900 + 100 + 500 })
  t.match(await user.log({ externalId: 'late', source: watch, deleted: true }), [{ id: second?.id, status: 'deleted' }])
  t.match(await today(user), { steps: 900 + 100 + 1_000 })
  t.match((await user.read('/dashboard/home')).stats, { totalXp: 0, streak: 1 })
})

t.test('a measurement over midnight is of both days, and many can be one log', async (t) => {
  const user = newUser({ now: '2026-11-20T05:00:00Z', zone: 'Etc/UTC' })
  await user.log(
    measured('ACTIVE_ENERGY', watch, ['2026-11-19T23:50:00Z', '2026-11-20T00:10:00Z'], { kcal: 100 }),
    measured('DISTANCE', watch, ['2026-11-20T00:00:00Z', '2026-11-20T05:00:00Z'], {
      samples: [
        { startAt: '2026-11-20T01:00:00Z', endAt: '2026-11-20T01:10:00Z', meters: 700.5 },
        { startAt: '2026-11-20T03:00:00Z', endAt: '2026-11-20T03:10:00Z', meters: 300 }
      ]
    })
  )
  t.match(await today(user), { activeEnergy: 50, steps: 0 })
  t.match((await user.read('/logs?type=DISTANCE')).logs, [{ data: { meters: 1_000.5 } }])
})

t.test('a sample at a leap second is rejected, and the other logs are written', async (t) => {
  const user = newUser()
  const leap = '2026-11-19T23:59:60Z'
  t.match(
    await user.log(
      measured('HEART_RATE', watch, [at(0), at(1)], { samples: [{ at: leap, bpm: 60 }] }),
      measured('STEPS', watch, [at(0), at(1)], { samples: [{ startAt: leap, endAt: at(1), count: 60 }] }),
      steps([0, 1], watch, 100)
    ),
    [{ status: 'rejected', error: /^Each sample/ }, { status: 'rejected', error: /^Each sample/ }, {
      status: 'created'
    }]
  )
})

t.test('samples that overlap are counted up to 10,000 minutes in a log', async (t) => {
  const user = newUser({ now: '2026-11-21T00:00:00Z', zone: 'Etc/UTC' })
  const day = { startAt: '2026-11-20T00:00:00Z', endAt: '2026-11-21T00:00:00Z', count: 10 }
  const rest = { ...day, endAt: '2026-11-20T22:40:00Z' }
  const sevenDays = (...more: object[]) =>
    measured('STEPS', watch, [day.startAt, day.endAt], { samples: [...Array.from({ length: 6 }, () => day), ...more] })
  t.match(await user.log(sevenDays(rest), sevenDays(day)), [
    { status: 'created' },
    { status: 'rejected', error: 'The samples must not add up to more than 10,000 minutes' }
  ])
  t.match((await user.read('/logs?type=STEPS')).logs, [{ data: { count: 70 } }])
})

t.test('a day with thousands of logs that last for a day keeps nobody waiting', async (t) => {
  const user = newUser({ now: '2026-11-21T00:00:00Z', zone: 'Etc/UTC' })
  const day = { startAt: '2026-11-20T00:00:00Z', endAt: '2026-11-21T00:00:00Z', count: 1 }
  const log = (index: number) =>
    measured('STEPS', watch, [day.startAt, day.endAt], { samples: Array.from({ length: 6 }, () => day) }, {
      externalId: `of a day ${index}`
    })
  for (const batch of [0, 1, 2]) {
    await user.log(...Array.from({ length: 1_000 }, (_, index) => log(batch * 1_000 + index)))
  }
  const before = process.cpuUsage()
  t.match(await user.log(log(3_000)), [{ status: 'created' }])
  const { user: microseconds } = process.cpuUsage(before)
  t.ok(microseconds < 700_000, `one more takes ${Math.round(microseconds / 1_000)} ms`)
})

t.test('logs of hundreds of time zones keep nobody waiting', async (t) => {
  const user = newUser({ now: '2026-11-21T00:00:00Z', zone: 'Etc/UTC' })
  const offsets = Array.from(
    { length: 600 },
    (_, minute) => `+${new Date(minute * 60_000).toISOString().slice(11, 16)}`
  )
  const logs = offsets.map((offset) =>
    measured('STEPS', watch, [`2026-11-20T12:00:00${offset}`, `2026-11-20T12:10:00${offset}`], { count: 1 })
  )
  const before = process.cpuUsage()
  t.equal((await user.log(...logs)).filter(({ status }) => status === 'created').length, 600)
  const { user: microseconds } = process.cpuUsage(before)
  t.ok(microseconds < 1_000_000, `they take ${Math.round(microseconds / 1_000)} ms`)
})

t.test('the resting heart rate is of the best source that has one', async (t) => {
  const user = newUser()
  await user.log(measured('HEART_RATE', phone, [at(0), at(1)], { resting: 61 }))
  t.match(await today(user), { restingHeartRate: 61 })
  await user.log(
    measured('HEART_RATE', watch, [at(0), at(1)], { resting: 55 }),
    measured('HEART_RATE', watch, [at(2), at(3)], { samples: [{ at: at(2), bpm: 100 }, { at: at(3), bpm: 120 }] })
  )
  t.match(await today(user), { restingHeartRate: 55 })
  t.match((await user.read('/logs?type=HEART_RATE')).logs, [
    { data: { min: 100, max: 120, avg: 110, count: 2, samples: [{ bpm: 100 }, { bpm: 120 }] } },
    {},
    {}
  ])
  t.notOk('restingHeartRate' in await today(newUser()))
})

t.test('single heart rates are kept for 90 days, what they say of a day for ever', async (t) => {
  const user = newUser()
  await user.log(
    ...[60, 90, 100].map((bpm, index) =>
      measured('HEART_RATE', watch, [at(index), at(index)], { bpm, resting: 50 + index })
    ),
    measured('HEART_RATE', watch, [at(5), at(6)], { samples: [{ at: at(5), bpm: 110 }], bpm: 70 })
  )
  const figures = async () =>
    await db.selectFrom('daily_measurements').where('account_id', '=', user.account)
      .select(['heart_rate_min', 'heart_rate_max', 'heart_rate_avg', 'resting_heart_rate']).execute()
  const before = await figures()
  t.same(before, [{ heart_rate_min: 60, heart_rate_max: 110, heart_rate_avg: 90, resting_heart_rate: 52 }])
  const { cursor } = await user.read('/logs/sync')
  await sql`update logs set at = at - interval '92 days', day = day - 92 where account_id = ${user.account}`.execute(db)
  for (let turn = 0; turn < 2; turn++) await runHousekeeping(db)
  t.same(await figures(), before)
  t.match((await user.read('/logs')).logs.map(({ data }: { data: object }) => data), [
    { min: 110, max: 110, avg: 110, samples: undefined },
    { min: 60, max: 100, avg: 83.3, count: 3, resting: 52, bpm: undefined }
  ])
  t.same((await user.read(`/logs/sync?cursor=${cursor}`)).changes, [], 'other devices keep the single ones')

  await sql`delete from daily_measurements where account_id = ${user.account}`.execute(db)
  await user.log(measured('HEART_RATE', watch, ['2026-08-20T01:00:00Z', '2026-08-20T01:00:00Z'], { resting: 60 }))
  t.match(await figures(), [{ heart_rate_max: 110, resting_heart_rate: 52 }], 'computed again, it is the same')
  t.match(
    await user.log(measured('HEART_RATE', watch, ['2026-08-01T00:00:00Z', '2026-08-01T00:00:00Z'], { bpm: 60 })),
    [
      { status: 'rejected', error: 'Single heart rates are kept for 90 days: send min, max and avg instead' }
    ]
  )
})
