import t from 'tap'
import { food, measured, sleep, examplePerson, testApp, watch, water, weight, workout } from '../test/app.ts'

const { newUser, db, at, setFakes } = await testApp(t)

t.test('a log at 23:50 in Jakarta belongs to that day, one at 00:10 to the next', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T17:20:00Z' })
  await log(water('2026-11-20T23:50:00+07:00', 300), water('2026-11-21T00:10:00+07:00', 400))
  const { logs } = await read('/logs')
  t.match(logs, [{ at: '2026-11-20T17:10:00.000Z', day: '2026-11-21' }, {
    at: '2026-11-20T16:50:00.000Z',
    day: '2026-11-20'
  }])
  t.match((await read('/dashboard/home')).today, { dayOfWeek: 'SATURDAY', water: { currentMl: 400 } })
})

for (
  const [zone, day, dayOfWeek] of [['Pacific/Kiritimati', '2026-11-21', 'SATURDAY'], [
    'America/Los_Angeles',
    '2026-11-19',
    'THURSDAY'
  ], ['Asia/Kathmandu', '2026-11-20', 'FRIDAY']]
) {
  t.test(`the same instant is ${day} in ${zone}`, async (t) => {
    const { log, read } = newUser({
      now: zone === 'America/Los_Angeles' ? '2026-11-20T07:59:00Z' : '2026-11-20T10:30:00Z',
      zone
    })
    await log(workout(zone === 'America/Los_Angeles' ? '2026-11-20T07:59:00Z' : '2026-11-20T10:30:00Z'))
    t.match((await read('/logs')).logs, [{ day, timezone: zone }])
    t.match(await read('/dashboard/home'), { today: { dayOfWeek }, stats: { streak: 1, workoutsThisWeek: 1 } })
    t.match((await read('/dashboard/weekly-overview')).days[6], { date: day, workout: true, isToday: true })
  })
}

t.test('a changed time zone does not change past days, even when a log is sent again', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T16:50:00Z' })
  const late = water('2026-11-20T16:50:00Z', 300)
  await log(late)
  setFakes({ person: examplePerson('Pacific/Auckland') })
  t.match(await log(late), [{ status: 'updated' }])
  t.match((await read('/logs')).logs, [{ day: '2026-11-20', timezone: 'Asia/Jakarta' }])
  await log({ ...late, data: { ml: 350 } })
  t.match((await read('/logs')).logs, [{ day: '2026-11-20', timezone: 'Asia/Jakarta', data: { ml: 350 } }])
  // In Auckland it is the 21st already: yesterday's streak goes on, and today is empty.
  t.match(await read('/dashboard/home'), {
    today: { dayOfWeek: 'SATURDAY', water: { currentMl: 0 } },
    stats: { streak: 1 }
  })
  await log({ ...late, at: '2026-11-20T16:49:00Z' })
  t.match((await read('/logs')).logs, [{ day: '2026-11-20', timezone: 'Asia/Jakarta' }])
  await log({ ...late, timezone: 'Pacific/Auckland' })
  t.match((await read('/logs')).logs, [{ day: '2026-11-21', timezone: 'Pacific/Auckland' }])
})

t.test('a log can be sent back as it was returned, wherever it was written', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T20:00:00Z' })
  await log(food('2026-11-20T23:50:00+09:00'), water('2026-11-20T08:00:00-03:30', 300), sleep('2026-11-20T16:30:00Z'))
  const { logs } = await read('/logs')
  t.same(logs.map((each: { timezone: string }) => each.timezone), ['Asia/Jakarta', '+09:00', '-03:30'])
  t.match(await log(...logs), logs.map(() => ({ status: 'updated' })))
  t.same((await read('/logs')).logs, logs)
  t.match(await log({ ...water('2026-11-20T10:00:00Z', 1), timezone: '+9' }), [{ status: 'rejected' }])
})

t.test('a log of a journey keeps its day when it is edited at home', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T00:00:00Z', zone: 'Asia/Tokyo' })
  const breakfast = food('2026-11-20T08:00:00+09:00')
  await log(breakfast)
  setFakes({ person: examplePerson('America/Los_Angeles') })
  await log({ ...breakfast, at: '2026-11-19T15:05:00-08:00', data: { name: 'Nasi', calories: 550 } })
  t.match((await read('/logs')).logs, [{ day: '2026-11-20', timezone: 'Asia/Tokyo', data: { calories: 550 } }])
})

t.test('a log that is sent after landing is on the day of the offset it was written with', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T08:00:00Z', zone: 'America/Los_Angeles' })
  await log(
    food('2026-11-20T00:30:00+09:00', {}, { clientId: 'offset' }),
    food('2026-11-20T00:30+0900', {}, { clientId: 'lenient' }),
    food('2026-11-20T00:30:00+09:00[Asia/Tokyo]', {}, { clientId: 'bracket' }),
    food('2026-11-19T15:30:00Z', {}, { clientId: 'named', timezone: 'asia/tokyo' }),
    food('2026-11-19T15:30:00Z', {}, { clientId: 'utc' }),
    food('2026-11-19T07:30:00-08:00', {}, { clientId: 'home' })
  )
  const logs = (await read('/logs')).logs.map(({ clientId, at, day, timezone }: Record<string, string>) => [
    clientId,
    at,
    day,
    timezone
  ])
  const at = '2026-11-19T15:30:00.000Z'
  t.same(logs.sort(), [
    ['bracket', at, '2026-11-20', '+09:00'],
    ['home', at, '2026-11-19', 'America/Los_Angeles'],
    ['lenient', at, '2026-11-20', '+09:00'],
    ['named', at, '2026-11-20', 'Asia/Tokyo'],
    ['offset', at, '2026-11-20', '+09:00'],
    ['utc', at, '2026-11-19', 'America/Los_Angeles']
  ])
  t.match(await log(food('2026-11-19T15:30:00Z', {}, { timezone: 'Mars/Olympus' })), [{
    status: 'rejected',
    error: 'timezone must be an IANA name such as Asia/Jakarta'
  }])
})

t.test('of two edits of a log the later one stays, whichever arrives last', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T05:00:00Z' })
  const at = '2026-11-20T01:00:00Z'
  const version = (ml: number, modifiedAt?: string) => water(at, ml, { clientId: 'a', ...modifiedAt && { modifiedAt } })
  const stored = async () => (await read('/logs')).logs[0]
  t.match(await log(version(200, '2026-11-20T02:00:00Z'), version(100, '2026-11-20T01:30:00Z')), [
    { status: 'created' },
    { status: 'unchanged' }
  ])
  t.match(await stored(), { data: { ml: 200 }, modifiedAt: '2026-11-20T02:00:00.000Z' })
  const { id } = await stored()
  t.match(await log(version(100, '2026-11-20T01:59:59Z')), [{ id, status: 'unchanged' }])
  t.match(await log(version(300, '2026-11-20T02:00:00+00:00')), [{ id, status: 'updated' }])
  t.match(await log(version(400, '2099-01-01T00:00:00Z')), [{ id, status: 'updated' }])
  t.match(await stored(), { data: { ml: 400 }, modifiedAt: '2026-11-20T05:00:00.000Z' })
  t.match(await log(version(500)), [{ id, status: 'updated' }])
  t.match(await stored(), { data: { ml: 500 }, modifiedAt: null })
  t.match(await log(version(600, 'yesterday')), [{
    status: 'rejected',
    error: 'modifiedAt must be a date and time such as 2026-01-31T08:00:00Z'
  }])
})

t.test('a log of a source moves to the day of the offset that the source sends later', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T08:00:00Z', zone: 'America/Los_Angeles' })
  const version = (startAt: string) => measured('WATER', watch, [startAt, startAt], { ml: 200 }, { externalId: 'w' })
  t.match(await log(version('2026-11-19T15:30:00Z')), [{ status: 'created' }])
  t.match((await read('/logs')).logs, [{ day: '2026-11-19', timezone: 'America/Los_Angeles' }])
  t.match(await log(version('2026-11-20T00:30:00+09:00')), [{ status: 'updated' }])
  const { logs: moved } = await read('/logs')
  t.match(moved, [{ day: '2026-11-20', timezone: '+09:00' }])
  await log(version('2026-11-19T15:30:00Z'))
  t.same((await read('/logs')).logs, moved, 'without an offset it stays')
})

t.test('after a flight westward the streak counts up to today', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T12:00:00Z', zone: 'Pacific/Kiritimati' })
  for (const day of ['18', '19', '20']) await log(water(`2026-11-${day}T12:00:00Z`))
  t.equal((await read('/dashboard/stats')).stats.streak, 3)
  setFakes({ person: examplePerson('Pacific/Honolulu') })
  // Here it is the 20th; the logs say the 19th, 20th and 21st.
  t.match((await read('/dashboard/stats')).stats, { streak: 2, longestStreak: 3 })
})

t.test('a day that did not exist for a person breaks no streak', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-18T03:00:00Z', zone: 'Pacific/Honolulu' })
  await log(...['15', '16', '17'].map((day) => water(`2026-11-${day}T17:00:00-10:00`)))
  at('2026-11-18T21:00:00Z')
  setFakes({ person: examplePerson('Pacific/Auckland') })
  const [landed] = await log(water('2026-11-18T20:00:00Z'))
  t.match((await read('/logs')).logs[0], { day: '2026-11-19', timezone: 'Pacific/Auckland' })
  t.match((await read('/dashboard/stats')).stats, { streak: 5, longestStreak: 5 })
  t.equal((await read('/dashboard/health-score')).metrics.water.streak, 5)
  await send('DELETE', `/logs/${landed?.id}`)
  t.match((await read('/dashboard/stats')).stats, { streak: 0, longestStreak: 3 })
  await log(food('2026-11-18T20:00:00Z'))
  t.match((await read('/dashboard/stats')).stats, { streak: 5 })
  t.equal((await read('/dashboard/health-score')).metrics.water.streak, 0)

  const samoan = newUser({ now: '2011-12-30T20:00:00Z', zone: 'Pacific/Apia' })
  await samoan.log(food('2011-12-29T20:00:00Z'), food('2011-12-30T20:00:00Z'))
  t.same((await samoan.read('/logs')).logs.map(({ day }: { day: string }) => day), ['2011-12-31', '2011-12-29'])
  t.match((await samoan.read('/dashboard/stats')).stats, { streak: 3 })

  const lazy = newUser({ now: '2026-11-20T05:00:00Z' })
  await lazy.log(food('2026-11-18T16:59:00Z'), food('2026-11-19T17:01:00Z'))
  t.match((await lazy.read('/dashboard/stats')).stats, { streak: 1, longestStreak: 1 })
})

t.test('an ISO week starts on Monday and can span the end of the year', async (t) => {
  const { log, read } = newUser({ now: '2027-01-01T05:00:00Z' })
  // Friday 2027-01-01 is in the week of Monday 2026-12-28, 2026's week 53.
  await log(
    workout('2026-12-27T23:30:00+07:00'),
    workout('2026-12-28T00:30:00+07:00'),
    workout('2026-12-31T23:30:00+07:00'),
    workout('2027-01-01T00:30:00+07:00')
  )
  t.match((await read('/dashboard/stats')).stats, {
    workoutsThisWeek: 3,
    workoutsThisMonth: 1,
    totalWorkouts: 4,
    streak: 2
  })
  const score = await read('/dashboard/health-score')
  t.match(score.metrics.workout, { score: 100, completed: 3, target: 3, streak: 2 })
  t.equal(score.previousScore, 10)
  t.same(
    (await read('/dashboard/weekly-overview')).days.map((
      { date, dayName, workout }: { date: string, dayName: string, workout: boolean }
    ) => `${date} ${dayName} ${workout}`),
    [
      '2026-12-26 Sab false',
      '2026-12-27 Min true',
      '2026-12-28 Sen true',
      '2026-12-29 Sel false',
      '2026-12-30 Rab false',
      '2026-12-31 Kam true',
      '2027-01-01 Jum true'
    ]
  )
  at('2027-01-03T16:59:59Z')
  t.equal((await read('/dashboard/stats')).stats.workoutsThisWeek, 3)
  at('2027-01-03T17:00:00Z')
  t.match((await read('/dashboard/stats')).stats, {
    workoutsThisWeek: 0,
    workoutsThisMonth: 1,
    streak: 0,
    longestStreak: 2
  })
  t.equal((await read('/dashboard/health-score')).metrics.workout.streak, 2, 'last week still counts for the streak')
  at('2027-01-10T17:00:00Z')
  t.equal((await read('/dashboard/health-score')).metrics.workout.streak, 0)
})

t.test('a streak survives an empty today and ends after a full day without logs', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T05:00:00Z' })
  await log(...['17', '18', '19', '20'].map((day) => water(`2026-11-${day}T05:00:00Z`)))
  const streaks = async () => {
    const { stats } = await read('/dashboard/stats')
    return [stats.streak, stats.longestStreak]
  }
  t.same(await streaks(), [4, 4])
  at('2026-11-21T16:59:59Z')
  t.same(await streaks(), [4, 4])
  at('2026-11-21T17:00:00Z')
  t.same(await streaks(), [0, 4])
})

t.test('late logs merge streaks and weeks; deleting and moving them splits them again', async (t) => {
  const { log, read, send, publishedEvents } = newUser({ now: '2026-11-20T05:00:00Z' })
  await log(...['14', '15', '16', '18', '19', '20'].map((day) => food(`2026-11-${day}T05:00:00Z`)))
  t.match((await read('/dashboard/stats')).stats, { streak: 3, longestStreak: 3 })
  const [late] = await log(workout('2026-11-17T05:00:00Z', {}, { clientId: 'late' }))
  t.match((await read('/dashboard/stats')).stats, { streak: 7, longestStreak: 7, workoutsThisWeek: 1 })
  t.same((await publishedEvents()).filter(([what]) => what === 'achievement'), [['achievement', 'FIRST_WORKOUT'], [
    'achievement',
    'STREAK_7'
  ]])

  // Moved to another day, with another type.
  t.match(await log(sleep('2026-11-10T05:00:00Z', {}, { clientId: 'late' })), [{ id: late?.id, status: 'updated' }])
  t.match((await read('/dashboard/stats')).stats, {
    streak: 3,
    longestStreak: 3,
    workoutsThisWeek: 0,
    totalWorkouts: 0,
    totalXp: 6 * 5 + 10
  })
  await log(workout('2026-11-17T05:00:00Z', {}, { clientId: 'late' }))
  t.equal((await read('/dashboard/stats')).stats.streak, 7)
  t.match((await send('DELETE', `/logs/${late?.id}`)).json(), { success: true, message: 'The log was deleted' })
  t.match((await read('/dashboard/stats')).stats, { streak: 3, longestStreak: 3, totalXp: 30 })
  t.match((await send('DELETE', `/logs/${late?.id}`)).json(), { success: false, code: 'NOT_FOUND' })
  t.match((await send('DELETE', '/logs/garbage')).json(), { success: false, code: 'NOT_FOUND' })
  t.equal(
    (await publishedEvents()).filter(([what]) => what === 'achievement').length,
    4,
    'each was taken back when the log moved, and earned again'
  )
})

t.test('XP has daily limits, by the day of the log', async (t) => {
  const { log, read } = newUser({ now: '2026-11-20T16:50:00Z' })
  const today = '2026-11-20T16:00:00Z'
  const xp = async () => (await read('/dashboard/stats')).stats.totalXp
  await log(...Array.from({ length: 6 }, () => food(today)))
  t.equal(await xp(), 30)
  const [seventh] = await log(food(today))
  t.equal(await xp(), 30)
  await log(...Array.from({ length: 9 }, () => water(today)))
  t.equal(await xp(), 46)
  await log(sleep(today), sleep(today), weight(today))
  t.equal(await xp(), 56)
  await log(workout(today, { durationMinutes: 60 }), workout('2026-11-20T10:00:00Z', { durationMinutes: 61 }))
  t.equal(await xp(), 276)
  await log({ ...food(today), clientId: seventh?.clientId, at: '2026-11-19T16:00:00Z' })
  t.equal(await xp(), 281, 'on another day it counts')
  const rows = await db.selectFrom('daily_summaries').select('xp').where('xp', '>', 200).execute()
  t.equal(rows.length, 1)
})

t.test('a level is published when it is reached, and when its logs are deleted', async (t) => {
  const { log, send, publishedEvents, read } = newUser({ now: '2026-11-20T05:00:00Z' })
  const [first] = await log(
    workout('2026-11-20T01:00:00Z', { durationMinutes: 60 }, { clientId: 'a' }),
    food('2026-11-20T01:00:00Z')
  )
  t.match((await read('/dashboard/home')).user, { level: 2, totalXp: 115, xpToNextLevel: 185 })
  await send('DELETE', `/logs/${first?.id}`)
  t.match((await read('/dashboard/home')).user, { level: 1, totalXp: 5, xpToNextLevel: 95 })
  await log(workout('2026-11-20T01:00:00Z', { durationMinutes: 60 }, { clientId: 'b' }))
  await log(...[15, 16, 17, 18, 19].map((day) => workout(`2026-11-${day}T01:00:00Z`, { durationMinutes: 60 })))
  // 6 × 110 + 5 = 665
  t.match((await read('/dashboard/home')).user, { level: 4, totalXp: 665, xpToNextLevel: 335 })
  t.same(await publishedEvents(), [
    ['level', 2],
    ['achievement', 'FIRST_WORKOUT'],
    ['level lost', 1],
    ['achievement lost', 'FIRST_WORKOUT'],
    ['level', 2],
    ['achievement', 'FIRST_WORKOUT'],
    ['level', 3],
    ['level', 4]
  ])
})
