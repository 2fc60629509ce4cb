import t from 'tap'
import { byHand, measured, phone, sleep, testApp, watch, workout } from '../test/app.ts'

const { newUser } = await testApp(t)

type User = ReturnType<typeof newUser>
const statsOf = async ({ read }: Pick<User, 'read'>) => (await read('/dashboard/home')).stats
const run = (minutes: [number, number], source: object, data: object = {}, more: object = {}) => {
  const at = (minute: number) => new Date(Date.parse('2026-11-20T01:00:00Z') + minute * 60_000).toISOString()
  return measured('WORKOUT', source as typeof watch, [at(minutes[0]), at(minutes[1])], data, more)
}
const squats = (weightKg: number) => ({ exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg }] }] })

t.test('a run of a watch, a phone and by hand is one session, with the best of each', async (t) => {
  const user = newUser()
  const items = [
    run([0, 60], byHand, { title: 'Morning run', notes: 'Windy', calories: 900 }),
    run([5, 50], phone, { title: 'Running', calories: 500, route: '_p~iF~ps|U_ulLnnqC_mqNvxq`@' }),
    run([2, 58], watch, { calories: 480, avgHeartRate: 150, heartRateZones: [{ zone: 2, minutes: 56 }] })
  ]
  for (const item of items) await user.log(item)
  t.match(await statsOf(user), { totalWorkouts: 1, avgWorkoutDuration: 56, totalXp: 50 + 56 })
  const { logs } = await user.read('/logs')
  t.equal(logs.length, 1)
  t.match(logs[0], {
    at: '2026-11-20T01:02:00.000Z',
    counts: true,
    source: watch,
    data: {
      title: 'Morning run',
      notes: 'Windy',
      calories: 480,
      avgHeartRate: 150,
      durationMinutes: 56,
      route: '_p~iF~ps|U_ulLnnqC_mqNvxq`@',
      heartRateZones: [{ zone: 2, minutes: 56 }]
    }
  })
  t.equal(logs[0].parts.length, 3)
})

t.test('any part can be taken out, and stays out when it is sent again', async (t) => {
  for (const which of [0, 1]) {
    const user = newUser()
    const items = [run([0, 60], watch), run([0, 50], phone)]
    const results = await user.log(...items)
    t.match(await statsOf(user), { totalWorkouts: 1, totalXp: 110 })
    for (let turn = 0; turn < 2; turn++) {
      const response = await user.send('POST', `/logs/${results[which]?.id}/split`)
      t.match(response.json(), {
        data: { log: { id: results[which]?.id, counts: true, isSplit: true, parts: { length: 0 } } }
      })
    }
    t.match(await statsOf(user), { totalWorkouts: 2, totalXp: 210 })
    await user.log(...items.map((item) => ({ ...item, data: { title: 'again' }, modifiedAt: '2026-11-20T04:00:00Z' })))
    t.match(await statsOf(user), { totalWorkouts: 2, totalXp: 210 })
    const stranger = newUser()
    t.equal((await stranger.send('POST', `/logs/${results[which]?.id}/split`)).statusCode, 404)
  }
})

t.test('a record moves from the day of one part of a session to that of another', async (t) => {
  const written = run([0, 60], byHand, squats(50), { timezone: 'America/Los_Angeles' })
  const counted = run([0, 60], phone, squats(50), { timezone: 'Asia/Jakarta' })
  const sets = [{ reps: 5, weightKg: 60 }, { reps: 5, weightKg: 60 }]
  const corrected = {
    ...counted,
    data: { exercises: [{ name: 'Squat', sets }] },
    modifiedAt: '2026-11-20T04:00:00Z'
  }
  const [user, other] = [newUser(), newUser()]
  for (const item of [written, counted, corrected]) await user.log(item)
  await other.log(written, corrected)
  t.strictSame(await statsOf(user), await statsOf(other))
  t.match(await statsOf(user), { totalPRs: 1, totalXp: 50 + 60 + 25 })
})

t.test('workouts of thousands of sources at one time keep nobody waiting', async (t) => {
  const user = newUser()
  const span: [string, string] = ['2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z']
  const workouts = (batch: number) =>
    Array.from({ length: 1_000 }, (_, index) => {
      const platform = `P${batch * 500 + Math.floor(index / 2)}`
      return measured('WORKOUT', { ...watch, platform }, span, {}, { externalId: `at once ${index}` })
    })
  for (const batch of [0, 1, 2]) await user.log(...workouts(batch))
  const before = process.cpuUsage()
  t.match(await user.log(measured('WORKOUT', watch, span, {})), [{ status: 'created' }])
  const { user: microseconds } = process.cpuUsage(before)
  t.ok(microseconds < 800_000, `one more takes ${Math.round(microseconds / 1_000)} ms`)
})

t.test('workouts of one platform, of different sports, or that share half at most are not one', async (t) => {
  const user = newUser()
  const totalWorkouts = async (...items: object[]) => {
    const other = newUser()
    await other.log(...items)
    return (await statsOf(other)).totalWorkouts
  }
  t.equal(await totalWorkouts(run([0, 60], phone), run([0, 60], phone)), 2)
  t.equal(await totalWorkouts(workout('2026-11-20T01:00:00Z'), workout('2026-11-20T01:00:00Z')), 2, 'both by hand')
  t.equal(await totalWorkouts(run([0, 60], phone, { sport: 'yoga' }), run([0, 60], watch, { sport: 'running' })), 2)
  t.equal(await totalWorkouts(run([0, 60], phone), run([0, 60], watch, { sport: 'running' })), 1)
  t.equal(await totalWorkouts(run([0, 60], phone), run([30, 90], watch)), 2)
  t.equal(await totalWorkouts(run([0, 60], phone), run([29, 90], watch)), 1)
  t.equal(await totalWorkouts(run([0, 60], phone), run([0, 20], watch), run([30, 50], watch)), 2)
  t.ok(user)
})

t.test('records, and what an item earned, are of the session', async (t) => {
  const user = newUser()
  const [first] = await user.log(run([0, 60], byHand, squats(80)))
  t.match(first, {
    status: 'created',
    xp: 50 + 60 + 25,
    level: 2,
    records: [{ exercise: 'Squat', weightKg: 80, reps: 5 }]
  })
  const [second] = await user.log(run([0, 62], watch, { calories: 300 }))
  t.match(second, { status: 'created', xp: 0, level: 2, records: { length: 0 } })
  t.match(await statsOf(user), { totalWorkouts: 1, totalPRs: 1, totalXp: 135 })
  await user.send('DELETE', `/logs/${first?.id}`)
  t.match(await statsOf(user), { totalWorkouts: 1, totalPRs: 0, totalXp: 110 })
  t.same(
    await user.publishedEvents(),
    [
      ['record', 'Squat', 80, 5],
      ['level', 2],
      ['achievement', 'FIRST_WORKOUT'],
      ['achievement', 'FIRST_PR'],
      ['record lost', ['squat']],
      ['achievement lost', 'FIRST_PR']
    ].map((event) => event[0] === 'record lost' ? ['records lost', event[1]] : event)
  )
})

t.test('a session that moves over midnight moves its day', async (t) => {
  const user = newUser({ now: '2026-11-20T05:00:00Z', zone: 'Etc/UTC' })
  const at = (start: string) =>
    measured('WORKOUT', watch, [start, '2026-11-20T01:00:00Z'], {}, { externalId: 'moving' })
  await user.log(at('2026-11-19T23:30:00Z'))
  t.match((await user.read('/dashboard/weekly-overview')).days.slice(-2), [{ workout: true }, { workout: false }])
  await user.log({ ...at('2026-11-20T00:30:00Z'), modifiedAt: '2026-11-20T04:00:00Z' })
  t.match((await user.read('/dashboard/weekly-overview')).days.slice(-2), [{ workout: false }, { workout: true }])
})

t.test('sleep is the union of what all sources say', async (t) => {
  const user = newUser({ now: '2026-11-20T15:00:00Z', zone: 'Etc/UTC' })
  await user.log(
    measured('SLEEP', phone, ['2026-11-19T22:00:00Z', '2026-11-20T05:00:00Z'], { quality: 2 }),
    measured('SLEEP', watch, ['2026-11-19T23:00:00Z', '2026-11-20T06:00:00Z'], {
      stages: [
        { stage: 'LIGHT', startAt: '2026-11-19T23:00:00Z', endAt: '2026-11-20T03:00:00Z' },
        { stage: 'AWAKE', startAt: '2026-11-20T03:00:00Z', endAt: '2026-11-20T03:30:00Z' },
        { stage: 'DEEP', startAt: '2026-11-20T03:30:00Z', endAt: '2026-11-20T06:00:00Z' }
      ]
    }),
    sleep('2026-11-20T14:30:00Z', { minutes: 30, quality: 4 })
  )
  const { logs } = await user.read('/logs')
  t.match(logs, [{ data: { minutes: 30 } }, {
    data: { minutes: 480, quality: 2, stages: [{ stage: 'LIGHT' }, {}, {}] }
  }])
  const { metrics } = await user.read('/dashboard/health-score')
  t.match(metrics.sleep, { avgDuration: 510, avgQuality: 3, daysTracked: 1 })
  t.match(await statsOf(user), { totalXp: 10, streak: 1 })
})

t.test('a sleep without a quality is scored by its length alone', async (t) => {
  const user = newUser({ now: '2026-11-20T15:00:00Z', zone: 'Etc/UTC' })
  await user.log(measured('SLEEP', watch, ['2026-11-19T22:00:00Z', '2026-11-20T06:00:00Z'], {}))
  t.match((await user.read('/dashboard/health-score')).metrics.sleep, { score: 100, avgDuration: 480, avgQuality: 0 })
})
