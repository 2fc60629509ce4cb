import t from 'tap'
import { lift, testApp, workout } from '../test/app.ts'

const { newUser } = await testApp(t)
const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T05:00:00Z`

t.test('each heavier lift is a record, worth 25 XP and published once; the list shows the latest ones', async (t) => {
  const { log, read, publishedEvents } = newUser()
  await log(
    lift(day(10), 'Squat', 80),
    lift(day(11), 'squat  ', 82.5),
    lift(day(12), 'SQUAT', 82.5),
    lift(day(13), 'Squat', 70),
    lift(day(14), 'Bench', 60)
  )
  t.same((await publishedEvents()).filter(([what]) => what === 'record'), [['record', 'Squat', 80, 5], [
    'record',
    'squat',
    82.5,
    5
  ], ['record', 'Bench', 60, 5]])
  t.same((await read('/records')).records, [
    { exercise: 'Bench', exerciseId: null, weightKg: 60, reps: 5, achievedAt: '2026-11-14T05:00:00.000Z' },
    { exercise: 'squat', exerciseId: null, weightKg: 82.5, reps: 5, achievedAt: '2026-11-11T05:00:00.000Z' }
  ])
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 3, totalXp: 5 * 80 + 3 * 25 })
})

t.test('a log reports the records that are new, each once', async (t) => {
  const { log } = newUser()
  const reported = async (...items: object[]) =>
    (await log(...items)).map((result) =>
      (result as { records?: { weightKg: number }[] }).records?.map((each) => each.weightKg)
    )
  const squats = (weightKg: number, title: string) =>
    workout(day(10), { title, exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg }] }] }, { clientId: 'squats' })
  t.strictSame(await reported(squats(80, 'Legs')), [[80]])
  t.strictSame(await reported(squats(80, 'Legs')), [[]], 'sent again')
  t.strictSame(await reported(squats(80, 'Leg day')), [[]], 'with another title')
  t.strictSame(await reported(squats(85, 'Leg day')), [[85]])
  const ofDevice = (platform: string) =>
    lift(day(11), 'Bench', 60, { clientId: undefined, source: { platform }, externalId: 'bench' })
  t.strictSame(await reported(ofDevice('HEALTHKIT'), ofDevice('HEALTH_CONNECT')), [[60], []], 'of one session')
})

t.test('which of equal lifts at one time is the record does not depend on which arrived first', async (t) => {
  const [first, second] = [
    lift(day(10), 'Squat', 80, { clientId: 'a' }),
    lift('2026-11-10T18:00:00+13:00', 'SQUAT', 80, { clientId: 'b' })
  ]
  for (const order of [[first, second], [second, first]]) {
    const { log, read } = newUser()
    for (const item of order) await log(item)
    t.match((await read('/records')).records, [{ exercise: 'Squat', weightKg: 80 }])
  }
})

t.test('the heaviest set of an exercise in a workout counts', async (t) => {
  const { log, read } = newUser()
  const exercises = [
    {
      name: 'Deadlift',
      sets: [{ reps: 5, weightKg: 100 }, { reps: 3, weightKg: 120 }, { reps: 4, weightKg: 120 }, {
        reps: 9,
        weightKg: 60
      }]
    },
    { name: 'deadlift', sets: [{ reps: 1, weightKg: 125 }] },
    { name: 'Plank', sets: [] }
  ]
  await log(workout(day(10), { exercises }))
  t.match((await read('/records')).records, [{ exercise: 'deadlift', weightKg: 125, reps: 1 }])
  t.equal((await read('/dashboard/stats')).stats.totalPRs, 1)
})

t.test('a hundredth of a kilogram is a record, less is not, and hyphens make no other exercise', async (t) => {
  const { log, read } = newUser()
  await log(
    lift(day(10), 'Bench Press', 80),
    lift(day(11), 'Bench-Press', 80.00000005),
    lift(day(12), 'bench  press', 80.004),
    lift(day(13), 'Bench–press', 80.01)
  )
  t.match((await read('/records')).records, [{ exercise: 'Bench–press', weightKg: 80.01 }])
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 2 })
})

t.test('pull-ups have records of repetitions, then of less assistance and of added weight', async (t) => {
  const sets = [
    [8, -20, true],
    [9, -20, true],
    [9, -20, false],
    [20, -25, false],
    [3, 0, true],
    [12, 0, true],
    [11, 0, false],
    [1, 5, true],
    [30, 5, false],
    [40, 0, false]
  ] as const
  const { log, read } = newUser()
  let records = 0
  for (const [index, [reps, weightKg, isRecord]] of sets.entries()) {
    await log(workout(day(1 + index), { exercises: [{ name: 'Pull-up', sets: [{ reps, weightKg }] }] }))
    if (isRecord) records++
    t.equal((await read('/dashboard/stats')).stats.totalPRs, records, `${reps} × ${weightKg} kg`)
  }
  t.match((await read('/records')).records, [{ exercise: 'Pull-up', weightKg: 5, reps: 1 }])
})

t.test('a backdated lift becomes a record and takes it from later lifts', async (t) => {
  const { log, read, publishedEvents, send } = newUser()
  await log(lift(day(10), 'Squat', 80), lift(day(12), 'Squat', 90), lift(day(14), 'Squat', 100))
  const [backdated] = await log(lift(day(9), 'Squat', 95))
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 2, totalXp: 4 * 80 + 2 * 25 })
  t.match((await read('/records')).records, [{ weightKg: 100 }])
  t.same((await publishedEvents()).filter(([what]) => what === 'record').map(([, , kg]) => kg), [80, 90, 100, 95])

  await send('DELETE', `/logs/${backdated?.id}`)
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 3, totalXp: 3 * 80 + 3 * 25 })
  t.equal(
    (await publishedEvents()).filter(([what]) => what === 'record').length,
    4,
    'a restored record is not published again'
  )
})

t.test('deleting the heaviest lift restores the earlier record', async (t) => {
  const { log, read, send } = newUser()
  const [, typo] = await log(lift(day(10), 'Squat', 80), lift(day(11), 'Squat', 800), lift(day(12), 'Squat', 85))
  t.match((await read('/records')).records, [{ weightKg: 800 }])
  await send('DELETE', `/logs/${typo?.id}`)
  t.match((await read('/records')).records, [{ weightKg: 85, achievedAt: '2026-11-12T05:00:00.000Z' }])
  t.equal((await read('/dashboard/stats')).stats.totalPRs, 2)
})

t.test('a changed workout is recomputed: a new weight is published, a new title is not', async (t) => {
  const { log, read, publishedEvents } = newUser()
  const squat = (weightKg: number, more: object = {}) => ({
    ...lift(day(10), 'Squat', weightKg),
    clientId: 'a',
    ...more
  })
  const records = async () => (await publishedEvents()).filter(([what]) => what === 'record').map(([, , kg]) => kg)
  await log(squat(80))
  const titled = squat(80)
  await log({ ...titled, data: { ...titled.data, title: 'Legs' } })
  t.same(await records(), [80])
  await log(squat(85))
  t.same(await records(), [80, 85])
  t.match((await read('/records')).records, [{ weightKg: 85 }])
  await log(squat(85, { at: day(12) }))
  t.match((await read('/records')).records, [{ weightKg: 85, achievedAt: '2026-11-12T05:00:00.000Z' }])
  t.same(await records(), [80, 85], 'on another day it is the same record')
  await log(squat(85, { type: 'WATER', data: { ml: 100 } }))
  t.same((await read('/records')).records, [])
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 0, totalWorkouts: 0, totalXp: 2 })
})

t.test('a record that is deleted, corrected or beaten before its day is published as lost', async (t) => {
  const { log, send, publishedEvents } = newUser()
  const events = async () =>
    (await publishedEvents()).filter(([what]) => what !== 'level' && what !== 'achievement').slice(seen)
  let seen = 0
  const next = async () => {
    const news = await events()
    seen += news.length
    return news
  }
  const lost = ['records lost', ['squat']]
  const [first] = await log(lift(day(10), 'Squat', 80, { clientId: 'a' }))
  t.same(await next(), [['record', 'Squat', 80, 5]])
  await log(lift(day(10), 'Squat', 80, {
    clientId: 'a',
    data: workout(day(10), {
      exercises: [{ name: 'Squat', sets: [{ reps: 8, weightKg: 80 }] }]
    }).data
  }))
  t.same(await next(), [['record', 'Squat', 80, 8]], 'corrected, it is still one')
  await log(lift(day(9), 'Squat', 90, { clientId: 'b' }))
  t.same(await next(), [lost, ['record', 'Squat', 90, 5]])
  await log(lift(day(9), 'Squat', 70, { clientId: 'b' }))
  t.same(await next(), [['record', 'Squat', 70, 5]], 'what is a record again is not published')
  await send('DELETE', `/logs/${first?.id}`)
  t.same(await next(), [lost])
  await log({ ...workout(day(9)), clientId: 'b' })
  t.same(await next(), [lost, ['level lost', 1], ['achievement lost', 'FIRST_PR']])
})

t.test('a record that moves to another day takes its XP along', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T05:00:00Z' })
  await log(lift(day(10), 'Squat', 80, { clientId: 'a' }), lift(day(12), 'Squat', 80, { clientId: 'b' }))
  await log(lift(day(13), 'Squat', 80, { clientId: 'a' }))
  t.match((await read('/records')).records, [{ achievedAt: '2026-11-12T05:00:00.000Z' }])
  t.match((await read('/dashboard/stats')).stats, { totalPRs: 1, totalXp: 2 * 80 + 25 })
})
