import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { FactsChanged } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { onFactsChanged } from '../people/consumers.ts'
import { examplePerson, food, sleep, testApp, water, workout } from '../test/app.ts'
import { handleTrainingProgress, handleTrainingTotals } from '../totals/rpc.ts'

const { newUser, deps, setFakes } = await testApp(t)
const totals = handleTrainingTotals(deps)
const progress = handleTrainingProgress(deps)
const now = '2026-11-20T05:00:00Z'

t.test('goals are null until one is set; omitted goals stay unchanged', async (t) => {
  const { account: accountId, read, send } = newUser({ now })
  t.strictSame(await read('/goals'), { goals: null })
  t.strictSame((await send('PUT', '/goals', {})).json(), { success: true, data: { goals: null } })
  t.strictSame((await send('PUT', '/goals', { waterMl: 3000 })).json().data.goals, {
    dailyCalories: null,
    proteinTarget: null,
    carbsTarget: null,
    fatTarget: null,
    goalType: 'MAINTAIN',
    waterMl: 3000,
    sleepMinutes: 480,
    workoutsPerWeek: 3
  })
  t.same(await totals.handle({ accountId }), { totalWorkouts: 0, totalFoodEntries: 0, nutritionGoal: null })

  const set = {
    dailyCalories: 2200,
    proteinTarget: 130,
    carbsTarget: 260.5,
    fatTarget: 70,
    goalType: 'BUILD_MUSCLE',
    sleepMinutes: 450,
    workoutsPerWeek: 4
  }
  t.strictSame((await send('PUT', '/goals', set)).json().data.goals, { ...set, waterMl: 3000 })
  t.strictSame(await read('/goals'), { goals: { ...set, waterMl: 3000 } })
  const { sleepMinutes: _sleep, workoutsPerWeek: _workouts, ...nutritionGoal } = set
  t.same(await totals.handle({ accountId }), { totalWorkouts: 0, totalFoodEntries: 0, nutritionGoal })
})

t.test('missing nutrients are derived from the calories', async (t) => {
  const { account: accountId, send } = newUser({ now })
  // 2,000 kcal: 25 % protein and 50 % carbs at 4 kcal a gram, 25 % fat at 9
  t.match((await send('PUT', '/goals', { dailyCalories: 2000 })).json().data.goals, {
    proteinTarget: 125,
    carbsTarget: 250,
    fatTarget: 56
  })
  t.match(await totals.handle({ accountId }), {
    nutritionGoal: { dailyCalories: 2000, proteinTarget: 125, carbsTarget: 250, fatTarget: 56, goalType: 'MAINTAIN' }
  })
})

t.test('the limits of each goal are exact at both ends', async (t) => {
  const { send } = newUser({ now })
  const edges = {
    dailyCalories: [500, 20000, 499, 20001],
    proteinTarget: [0, 2000, -1, 2001],
    carbsTarget: [0, 2000, -1, 2001],
    fatTarget: [0, 2000, -1, 2001],
    waterMl: [100, 20000, 99, 20001],
    sleepMinutes: [60, 1440, 59, 1441],
    workoutsPerWeek: [1, 21, 0, 22],
    goalType: ['A', 'A'.repeat(40), '', 'A'.repeat(41)]
  }
  for (const [goal, [low, high, below, above]] of Object.entries(edges)) {
    for (const value of [low, high]) {
      t.equal((await send('PUT', '/goals', { [goal]: value })).statusCode, 200, `${goal} ${value}`)
    }
    for (const value of [below, above, 'lots']) {
      t.match((await send('PUT', '/goals', { [goal]: value })).json(), { code: 'VALIDATION_ERROR' }, `${goal} ${value}`)
    }
    const before = (await send('GET', '/goals')).json()
    t.same((await send('PUT', '/goals', { [goal]: null })).json(), before, `null leaves ${goal} as it is`)
  }
})

t.test('two concurrent changes are both stored', async (t) => {
  const { read, send } = newUser({ now })
  await Promise.all([
    send('PUT', '/goals', { waterMl: 2500 }),
    send('PUT', '/goals', { sleepMinutes: 500 }),
    send('PUT', '/goals', { dailyCalories: 1800 })
  ])
  t.match(await read('/goals'), { goals: { waterMl: 2500, sleepMinutes: 500, dailyCalories: 1800 } })
})

t.test('scores and targets follow the goals', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-16T05:00:00Z' })
  const at = '2026-11-16T04:00:00Z'
  await send('PUT', '/goals', { dailyCalories: 1000, waterMl: 1000, sleepMinutes: 240, workoutsPerWeek: 1 })
  await log(workout(at), food(at, { calories: 1100 }), water(at, 1500), sleep(at, { minutes: 240, quality: 3 }))
  // 100; 1 - 100/1000; 100; 0.7 + 0.3 × 3/5: 0.30·100 + 0.25·90 + 0.20·100 + 0.25·88 = 94.5
  t.match(await read('/dashboard/health-score'), {
    overallScore: 95,
    metrics: {
      workout: { score: 100, target: 1 },
      nutrition: { score: 90, calorieProgress: 110 },
      water: { score: 100, todayProgress: 100 },
      sleep: { score: 88, avgDuration: 240, avgQuality: 3, daysTracked: 1 }
    },
    tips: ['Kerja bagus! Semua targetmu minggu ini berjalan baik. Pertahankan kebiasaan sehatmu.']
  })
  t.match((await read('/dashboard/home')).today.water, { currentMl: 1500, targetMl: 1000 })
})

t.test('goals hold from their day on: a new goal does not change the scores of earlier days', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-20T05:00:00Z' })
  const lastWeek = ['09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-11-${day}T05:00:00Z`)
  await log(...lastWeek.flatMap((at) => [
    workout(at),
    food(at, { calories: 2000 }),
    water(at, 2000),
    sleep(at, { minutes: 480, quality: 5 })
  ]))
  t.match(await read('/dashboard/health-score'), { previousScore: 100 })
  const harder = { dailyCalories: 4000, waterMl: 8000, sleepMinutes: 960, workoutsPerWeek: 21 }
  await send('PUT', '/goals', harder)
  t.match(await read('/dashboard/health-score'), { previousScore: 100, metrics: { workout: { target: 21 } } })
  await send('PUT', '/goals', { waterMl: 9000 })
  t.match(await read('/dashboard/health-score'), { previousScore: 100 })

  // Yesterday 2,000 ml were all, today they are a quarter of the goal: (1 + 0.25) / 5 days.
  await send('PUT', '/goals', { waterMl: 8000 })
  await log(water('2026-11-19T05:00:00Z', 2000), water('2026-11-20T05:00:00Z', 2000))
  t.match((await read('/dashboard/health-score')).metrics.water, { score: 25, todayProgress: 25 })
})

t.test('goals set again after a flight west, on the day before, change no earlier day', async (t) => {
  const { log, read, send } = newUser({ now: '2026-11-20T01:00:00Z', zone: 'Asia/Tokyo' })
  const lastWeek = ['09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-11-${day}T05:00:00Z`)
  await log(...lastWeek.map((at) => water(at, 2000)))
  const scoreOf = async () => (await read('/dashboard/health-score')).previousScore
  const before = await scoreOf()
  await send('PUT', '/goals', { waterMl: 8000 })
  setFakes({ person: examplePerson('America/Los_Angeles') })
  await send('PUT', '/goals', { waterMl: 9000 })
  t.equal(await scoreOf(), before)
})

t.test('the RPCs return totals to identity, and the week streak and records to fitmatch', async (t) => {
  const { account: accountId, log } = newUser({ now })
  t.same(await progress.handle({ accountId }), { weekStreak: 0, personalRecords: 0 })
  await log(
    ...['2026-11-01', '2026-11-04', '2026-11-11', '2026-11-18'].map((day, index) =>
      workout(`${day}T05:00:00Z`, { exercises: [{ name: 'Squat', sets: [{ reps: 5, weightKg: 60 + index }] }] })
    ),
    food(now),
    food(now)
  )
  // Sunday the 1st is in the week before that of the 4th.
  t.same(await progress.handle({ accountId }), { weekStreak: 4, personalRecords: 4 })
  t.match(await totals.handle({ accountId }), { totalWorkouts: 4, totalFoodEntries: 2 })
})

t.test('the frequency of the profile is the weekly target until a goal is set', async (t) => {
  const { account, read, send } = newUser({ now })
  const target = async () => (await read('/dashboard/health-score')).metrics.workout.target
  t.equal(await target(), 3, 'never asked')
  const frequency = async (workoutFrequency: number, changedAt: string) =>
    await deliver([onFactsChanged(deps)], FactsChanged.type, {
      ...await readSample(FactsChanged) as object,
      accountId: account,
      workoutFrequency,
      changedAt
    })
  await read('/dashboard/health-score')
  await frequency(5, '2026-11-20T03:00:00.000Z')
  await frequency(2, '2026-11-20T02:00:00.000Z')
  setFakes({ person: 'unavailable' })
  t.equal(await target(), 5, 'the later of two events counts, in any order')

  setFakes({
    person: examplePerson('Asia/Jakarta', { changedAt: '2026-11-20T04:00:00.000Z', profile: { workoutFrequency: 6 } })
  })
  t.equal(await target(), 6, 'a change counts in the next request, before its event has arrived')
  await send('PUT', '/goals', { waterMl: 2500 })
  t.match(await read('/goals'), { goals: { waterMl: 2500, workoutsPerWeek: 6 } })
  await send('PUT', '/goals', { workoutsPerWeek: 4 })
  t.equal(await target(), 4)
  await frequency(7, '2026-11-20T05:00:00.000Z')
  t.equal(await target(), 4, 'a goal that was set stays')
})

t.test('a suggestion follows Mifflin and St Jeor, names its source, and sets nothing', async (t) => {
  const { read } = newUser({ now })
  const suggest = async (profile: object) => {
    setFakes({ person: examplePerson('Asia/Jakarta', { profile }) })
    return await read('/goals/suggestion')
  }
  const woman = { gender: 'FEMALE', birthDate: '1996-11-20T00:00:00.000Z', height: 165, weight: 60 }
  // 600 + 1031.25 - 150 - 161 = 1320.25
  t.strictSame(await suggest({ ...woman, workoutFrequency: 3 }), {
    suggestion: {
      dailyCalories: 2050,
      proteinTarget: 128,
      carbsTarget: 256,
      fatTarget: 57,
      goalType: 'MAINTAIN',
      basalCalories: 1320,
      activityFactor: 1.55,
      formula: 'Mifflin-St Jeor: (10 × 60 kg + 6.25 × 165 cm - 5 × 30 years - 161) × 1.55 × 1',
      source:
        'Mifflin MD, St Jeor ST, Hill LA, Scott BJ, Daugherty SA, Koh YO. A new predictive equation for resting ' +
        'energy expenditure in healthy individuals. Am J Clin Nutr 1990;51(2):241-247. Activity factors: FAO/WHO/UNU, ' +
        'Human energy requirements, 2001.'
    },
    missing: []
  })
  t.match(await suggest({ ...woman, gender: 'MALE', workoutFrequency: 6, fitnessGoal: 'BUILD_MUSCLE' }), {
    suggestion: { basalCalories: 1486, activityFactor: 1.725, goalType: 'BUILD_MUSCLE', dailyCalories: 2820 }
  })
  t.match(
    await suggest({ ...woman, fitnessGoal: 'LOSE_WEIGHT' }),
    { suggestion: { basalCalories: 1320, activityFactor: 1.2, goalType: 'LOSE_WEIGHT', dailyCalories: 1320 } },
    'never below the energy at rest'
  )
  t.strictSame(await suggest({ ...woman, height: null, gender: null }), {
    suggestion: null,
    missing: ['gender', 'height']
  })
  t.strictSame(await read('/goals'), { goals: null })
})

t.test('there is no suggestion for people under 18, and none while profile is unavailable', async (t) => {
  const { send } = newUser({ now })
  const status = async (birthDate: string) => {
    setFakes({ person: examplePerson('Asia/Jakarta', { birthDate }) })
    const response = await send('GET', '/goals/suggestion')
    return [response.statusCode, response.json().code]
  }
  t.strictSame(await status('2008-11-21T00:00:00.000Z'), [403, 'AGE_RESTRICTED'])
  t.strictSame(await status('2008-11-20T00:00:00.000Z'), [200, undefined])
  setFakes({ person: 'unavailable' })
  t.equal((await send('GET', '/goals/suggestion')).statusCode, 503)
})
