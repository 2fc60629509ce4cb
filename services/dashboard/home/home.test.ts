import t from 'tap'
import { deliver, recordedEvents } from '@tandem/bus-kit/testing'
import { FactsChanged } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { endsWithin } from '@tandem/test-kit'
import { onFactsChanged } from '../people/consumers.ts'
import { food, examplePerson, testApp, water, weight, workout } from '../test/app.ts'

const { newUser, setFakes, at, db, deps, app } = await testApp(t)
const now = '2026-11-20T05:00:00Z'

const zeros = {
  streak: 0,
  longestStreak: 0,
  totalXp: 0,
  level: 1,
  totalPRs: 0,
  totalWorkouts: 0,
  avgWorkoutDuration: 0,
  workoutsThisWeek: 0,
  workoutsThisMonth: 0,
  todayCalories: 0,
  todayProtein: 0,
  currentWeight: null
}

t.test('a new person sees zeros and nulls', async (t) => {
  const { account, read } = newUser({ now })
  t.strictSame(await read('/dashboard/home'), {
    user: {
      id: account,
      name: 'Ana',
      image: null,
      email: 'ana@example.com',
      level: 1,
      totalXp: 0,
      xpToNextLevel: 100,
      streak: 0,
      longestStreak: 0
    },
    today: { dayOfWeek: 'FRIDAY', workout: null, water: { currentMl: 0, targetMl: 2000 }, steps: 0, activeEnergy: 0 },
    stats: zeros,
    fitmatch: { hasProfile: false, status: null, discoverTutorialSeen: false },
    matches: [],
    upcomingActivities: [],
    profileCompletion: 40
  })
  t.strictSame(await read('/dashboard/stats'), { stats: zeros, updatedAt: '2026-11-20T05:00:00.000Z' })
  t.strictSame(await read('/dashboard/health-score'), {
    overallScore: 0,
    previousScore: 0,
    trend: 'neutral',
    metrics: {
      workout: { score: 0, completed: 0, target: 3, streak: 0 },
      nutrition: { score: 0, calorieProgress: 0, daysTracked: 0 },
      water: { score: 0, todayProgress: 0, streak: 0 },
      sleep: { score: 0, avgDuration: 0, avgQuality: 0, daysTracked: 0 }
    },
    tips: [
      'Mulai minggu ini dengan satu sesi latihan; targetmu 3 kali seminggu.',
      'Jadwalkan latihan di jam yang sama agar menjadi kebiasaan. Latihan 20 menit pun sudah berarti.'
    ]
  })
  const overview = await read('/dashboard/weekly-overview')
  const nothing = { workout: false, nutrition: false, water: false, sleep: false }
  t.strictSame(overview, {
    days: [
      { date: '2026-11-14', dayName: 'Sab', ...nothing, isToday: false },
      { date: '2026-11-15', dayName: 'Min', ...nothing, isToday: false },
      { date: '2026-11-16', dayName: 'Sen', ...nothing, isToday: false },
      { date: '2026-11-17', dayName: 'Sel', ...nothing, isToday: false },
      { date: '2026-11-18', dayName: 'Rab', ...nothing, isToday: false },
      { date: '2026-11-19', dayName: 'Kam', ...nothing, isToday: false },
      { date: '2026-11-20', dayName: 'Jum', ...nothing, isToday: true }
    ],
    stats: { workoutCount: 0, nutritionCount: 0, waterCount: 0, sleepCount: 0, consistency: 0 }
  })
})

t.test('tips and weekday names are Indonesian, or English if the client prefers it', async (t) => {
  const { send } = newUser({ now })
  const wishes = [
    ['', 'id'],
    ['id', 'id'],
    ['in-ID', 'id'],
    ['en', 'en'],
    ['en-GB,en;q=0.9', 'en'],
    ['fr', 'id'],
    ['fr, en;q=0.5', 'en'],
    ['en;q=0.2, id;q=0.9', 'id'],
    ['id;q=0.2, en;q=0.9', 'en'],
    ['en;q=0', 'id'],
    ['en;q=0, id;q=0.1', 'id'],
    ['*', 'id'],
    ['*, en;q=0.1', 'en'],
    [';;q=x', 'id']
  ] as const
  for (const [wish, language] of wishes) {
    const headers: Record<string, string> = wish === '' ? {} : { 'accept-language': wish }
    const [score, overview] = [
      await send('GET', '/dashboard/health-score', undefined, headers),
      await send('GET', '/dashboard/weekly-overview', undefined, headers)
    ]
    t.match(score.json().data.tips, [
      language === 'en' ? /^Start this week with one workout; your goal is 3/ : /^Mulai minggu ini dengan satu sesi/,
      String
    ], wish)
    t.equal(overview.json().data.days[6].dayName, language === 'en' ? 'Fri' : 'Jum', wish)
    t.equal(overview.json().data.days[0].dayName, language === 'en' ? 'Sat' : 'Sab', wish)
    t.match([score.headers['vary'], overview.headers['vary']], [/accept-language/i, /accept-language/i])
  }
})

t.test('the figures of a week of logs match a calculation by hand', async (t) => {
  const { log, read } = newUser({ now })
  const day = (number: number) => `2026-11-${number}T12:00:00+07:00`
  await log(
    workout(day(16), { durationMinutes: 45 }),
    food(day(16), { calories: 1800, protein: 70.1 }),
    water(day(16), 1500),
    food(day(17), { calories: 2600 }),
    water(day(17), 2000),
    water(day(17), 1000),
    workout('2026-11-19T23:50:00+07:00', { durationMinutes: 30 }),
    weight(day(18), 72),
    weight(day(17), 74),
    food('2026-11-20T08:00:00+07:00', { calories: 400.1, protein: 20.1 }),
    food('2026-11-20T11:00:00+07:00', { calories: 600.2, protein: 30.2 }),
    water('2026-11-20T11:00:00+07:00', 250)
  )
  const home = await read('/dashboard/home')
  // Workouts 95 + 80, foods 4 × 5, waters 4 × 2
  t.strictSame(home.stats, {
    streak: 5,
    longestStreak: 5,
    totalXp: 203,
    level: 2,
    totalPRs: 0,
    totalWorkouts: 2,
    avgWorkoutDuration: 38,
    workoutsThisWeek: 2,
    workoutsThisMonth: 2,
    todayCalories: 1000.3,
    todayProtein: 50.3,
    currentWeight: 72
  })
  t.match(home, {
    user: { level: 2, totalXp: 203, xpToNextLevel: 97, streak: 5 },
    today: { water: { currentMl: 250, targetMl: 2000 } }
  })
  // workout 2/3; nutrition (0.9 + 0.7 + 0.50015)/3; water (0.75 + 1 + 0 + 0 + 0.125)/5; no sleep: 0.3·67 + 0.25·70 +
  // 0.2·38
  t.match(await read('/dashboard/health-score'), {
    overallScore: 45,
    previousScore: 0,
    trend: 'up',
    metrics: {
      workout: { score: 67, completed: 2, target: 3, streak: 1 },
      nutrition: { score: 70, calorieProgress: 50, daysTracked: 3 },
      water: { score: 38, todayProgress: 13, streak: 1 },
      sleep: { score: 0, avgDuration: 0, avgQuality: 0, daysTracked: 0 }
    }
  })
  // workouts on 2 days, food on 3, water on 3: 8 of 28
  t.match(await read('/dashboard/weekly-overview'), {
    days: [
      {},
      {},
      { workout: true, nutrition: true, water: true, sleep: false },
      { workout: false, nutrition: true },
      { workout: false },
      { workout: true, water: false },
      { nutrition: true, water: true }
    ],
    stats: { workoutCount: 2, nutritionCount: 3, waterCount: 3, sleepCount: 0, consistency: 29 }
  })
})

t.test('the current weight is the newest of the weight logs and the profile weight', async (t) => {
  const { account, log, read } = newUser({ now })
  const weightNow = async () => {
    const [home, { stats }] = [await read('/dashboard/home'), await read('/dashboard/stats')]
    t.equal(home.stats.currentWeight, stats.currentWeight)
    return stats.currentWeight
  }
  const setProfileWeight = (weight: number, weighedAt: string) =>
    setFakes({ person: examplePerson('Asia/Jakarta', { weight, weighedAt, changedAt: weighedAt }) })
  setProfileWeight(80, '2026-11-10T05:00:00.000Z')
  t.equal(await weightNow(), 80, 'before the first log')
  await log(weight('2026-11-09T05:00:00Z', 81))
  t.equal(await weightNow(), 80, 'a log from before onboarding is older')
  await log(weight('2026-11-15T05:00:00Z', 78))
  t.equal(await weightNow(), 78)
  setProfileWeight(77, '2026-11-18T05:00:00.000Z')
  t.equal(await weightNow(), 77, 'a newer profile weight counts in the next request')
  setFakes({ person: 'unavailable' })
  t.equal(await weightNow(), 77, 'also while profile is unavailable')
  const facts = { ...await readSample(FactsChanged) as object, accountId: account }
  await deliver([onFactsChanged(deps)], FactsChanged.type, {
    ...facts,
    enteredWeight: 76,
    enteredAt: '2026-11-19T05:00:00.000Z',
    changedAt: '2026-11-19T05:00:00.000Z'
  })
  await deliver([onFactsChanged(deps)], FactsChanged.type, {
    ...facts,
    enteredWeight: 75,
    enteredAt: '2026-11-17T05:00:00.000Z',
    changedAt: '2026-11-17T05:00:00.000Z'
  })
  t.equal(await weightNow(), 76, 'late events change nothing')
  await log(weight('2026-11-20T04:00:00Z', 74))
  t.equal(await weightNow(), 74)
})

t.test('a deleted weight log does not count any more, whatever profile still holds', async (t) => {
  const { account, log, send, read } = newUser({ now })
  const weightNow = async () => (await read('/dashboard/stats')).stats.currentWeight
  const [early, late] = ['2026-11-18T05:00:00.000Z', '2026-11-20T01:00:00.000Z']
  const setProfile = (changes: object) =>
    setFakes({ person: { ...examplePerson('Asia/Jakarta', { weight: 405 }), weighedAt: late, ...changes } })
  // A profile of an earlier version sends only the weight that it took over.
  setProfile({ enteredWeight: undefined, enteredAt: undefined })
  await log(weight(early, 80))
  const [mistake] = await log(weight(late, 405))
  t.equal(await weightNow(), 405)
  setProfile({ enteredWeight: 70, enteredAt: '2026-11-10T05:00:00.000Z', changedAt: '2026-11-20T02:00:00.000Z' })
  await send('DELETE', `/logs/${mistake?.id}`)
  t.equal(await weightNow(), 80)

  await log(weight(late, 81))
  t.equal(await weightNow(), 81, 'at the time of the deleted one')
  for (const { id } of (await read('/logs?type=WEIGHT')).logs) await send('DELETE', `/logs/${id}`)
  t.equal(await weightNow(), 70, 'no log is left: the entered one counts')
  const published = (await recordedEvents(db)).filter(({ subject }) => subject === account).map(({ type }) => type)
  t.equal(published.filter((type) => type === 'dashboard.weight.unlogged.v1').length, 1)
})

t.test('the parts of other services are shown as returned', async (t) => {
  const { read } = newUser({ now })
  const match = {
    matchId: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    profileId: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c',
    displayName: 'Ben',
    photo: null,
    matchedAt: '2026-11-19T08:00:00.000Z'
  }
  const activity = {
    id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1d',
    title: 'Evening run',
    sport: 'running',
    date: '2026-11-28',
    startTime: '18:00',
    endTime: '19:30',
    locationName: 'Gelora'
  }
  setFakes({
    person: examplePerson('Asia/Jakarta', { name: 'Ayu', image: 'https://cdn.example/a.webp', completion: 95 }),
    fitmatch: {
      hasProfile: true,
      status: 'PAUSED',
      discoverTutorialSeen: true,
      matches: [match],
      upcomingActivities: [activity]
    }
  })
  t.match(await read('/dashboard/home'), {
    user: { name: 'Ayu', image: 'https://cdn.example/a.webp' },
    fitmatch: { hasProfile: true, status: 'PAUSED', discoverTutorialSeen: true },
    matches: [match],
    profileCompletion: 95
  })
  t.strictSame((await read('/dashboard/home')).upcomingActivities, [activity], 'exactly the documented fields')
})

t.test('the part of an unavailable service is null or empty, and the rest is correct', async (t) => {
  const { read, log } = newUser({ now, zone: 'Pacific/Auckland' })
  await log(workout(now))
  setFakes({ person: 'unavailable' })
  t.match(await read('/dashboard/home'), {
    user: { name: 'Ana', email: 'ana@example.com', streak: 1 },
    profileCompletion: null
  })
  setFakes({ contact: 'unavailable' })
  t.match(
    await read('/dashboard/home'),
    { user: { name: 'Ana', image: null, email: null } },
    'the name from the local copy'
  )
  setFakes({ fitmatch: 'unavailable' })
  const home = await read('/dashboard/home')
  t.match(home, {
    fitmatch: { hasProfile: false, status: null, discoverTutorialSeen: false },
    stats: { totalWorkouts: 1, workoutsThisWeek: 1 }
  })
  t.strictSame(home.matches, [])
  t.strictSame(home.upcomingActivities, [])
  t.match(await read('/dashboard/weekly-overview'), { stats: { workoutCount: 1 } })
  t.equal((await read('/dashboard/health-score')).metrics.workout.completed, 1)
  // At 05:00 UTC it is the evening of the 20th in Auckland, the time zone in the local copy.
  await log(water('2026-11-20T12:00:00Z'))
  t.match((await read('/logs')).logs[0], { timezone: 'Pacific/Auckland' })
})

t.test('the other services are called concurrently', async (t) => {
  const { read } = newUser({ now })
  setFakes({ delayMs: 300 })
  t.ok(await endsWithin(600, read('/dashboard/home')))
})

t.test('with all services unavailable an unknown account still gets a response', async (t) => {
  const { read, log } = newUser({ now })
  setFakes({ person: 'unavailable', contact: 'unavailable', fitmatch: 'unavailable' })
  t.match(await read('/dashboard/home'), {
    user: { name: null, image: null, email: null, level: 1 },
    today: { dayOfWeek: 'FRIDAY' },
    profileCompletion: null
  })
  await log(water(now))
  t.match((await read('/logs')).logs, [{ timezone: 'Asia/Jakarta' }])
})

t.test('an account unknown to profile is shown with the available data', async (t) => {
  const { read } = newUser({ now })
  setFakes({ person: null, contact: null })
  t.match(await read('/dashboard/home'), { user: { name: null, email: null }, profileCompletion: 0 })
})

t.test('a new time zone takes effect in the next request', async (t) => {
  const { account, read, log } = newUser({ now: '2026-11-20T16:50:00Z' })
  await log(water('2026-11-20T16:50:00Z', 300))
  t.equal((await read('/dashboard/home')).today.dayOfWeek, 'FRIDAY')
  at('2026-11-20T16:50:01Z')
  setFakes({ person: examplePerson('Asia/Tokyo') })
  t.match(await read('/dashboard/home'), { today: { dayOfWeek: 'SATURDAY', water: { currentMl: 0 } } })
  t.match(await db.selectFrom('people').where('account_id', '=', account).select('timezone').execute(), [{
    timezone: 'Asia/Tokyo'
  }])
})

t.test('an unknown time zone is treated as Asia/Jakarta', async (t) => {
  const { read, log } = newUser({ now: '2026-11-20T16:50:00Z', zone: 'Mars/Olympus' })
  await log(water('2026-11-20T16:50:00Z', 300))
  t.match(await read('/dashboard/home'), { today: { dayOfWeek: 'FRIDAY', water: { currentMl: 300 } } })
  t.ok((await read('/dashboard/stats')).updatedAt)
})

t.test('every route requires a token', async (t) => {
  for (
    const url of [
      '/dashboard/home',
      '/dashboard/stats',
      '/dashboard/health-score',
      '/dashboard/weekly-overview',
      '/logs',
      '/records',
      '/goals',
      '/programs'
    ]
  ) {
    t.match((await app.inject({ url })).json(), { success: false, code: 'UNAUTHORIZED' }, url)
  }
})
