import t from 'tap'
import { food, sleep, testApp, water, weight, asCounted, workout } from '../test/app.ts'

const { newUser, at: setClock } = await testApp(t)

interface Log {
  type: string
  at: string
  data: {
    durationMinutes?: number,
    calories?: number,
    protein?: number,
    ml?: number,
    minutes?: number,
    quality?: number,
    kg?: number
  }
}

const DAY = 86_400_000
const zones = ['Asia/Jakarta', 'America/Los_Angeles', 'Pacific/Auckland']
const calendars = new Map(zones.map((zone) => [zone, new Intl.DateTimeFormat('sv-SE', { timeZone: zone })]))
const dayIn = (zone: string, at: string) => calendars.get(zone)?.format(new Date(at)) ?? ''
const count = (day: string) => Date.parse(`${day}T00:00Z`) / DAY
const mondayOf = (day: string) => count(day) - (count(day) + 3) % 7
const sum = (figures: (number | undefined)[]) => figures.reduce((total: number, figure = 0) => total + figure, 0)
const mean = (figures: number[]) => figures.length === 0 ? 0 : sum(figures) / figures.length

/** The length of the streak that ends at `last` or, if `last` is missing, one step before. */
function streakLength (numbers: number[], last: number, step = 1) {
  let [number, row] = [numbers.includes(last) ? last : last - step, 0]
  for (; numbers.includes(number); number -= step) row++
  return row
}

/** Computes the screens from the logs and local dates, with an algorithm independent of the service. */
function computeExpected (written: Log[], zone: string, now: string) {
  const logs = asCounted(written)
  const today = count(dayIn(zone, now))
  const monday = mondayOf(dayIn(zone, now))
  const first = count(`${dayIn(zone, now).slice(0, 8)}01`)
  const of = (type: string, from = -Infinity, to = today) =>
    logs.filter((log) => log.type === type && count(dayIn(zone, log.at)) >= from && count(dayIn(zone, log.at)) <= to)
  const days = [...new Set(written.map(({ at }) => count(dayIn(zone, at))))].sort((one, other) => one - other)
  const xp = sum(days.map((day) => {
    const [workouts, foods, waters, sleeps] = ['WORKOUT', 'FOOD', 'WATER', 'SLEEP'].map((type) =>
      of(type, day, day)
    ) as [Log[], Log[], Log[], Log[]]
    return sum(workouts.map(({ data }) => 50 + Math.min(60, data.durationMinutes ?? 0))) +
      5 * Math.min(6, foods.length) + 2 * Math.min(8, waters.length) + (sleeps.length > 0 ? 10 : 0)
  }))
  const workouts = of('WORKOUT')

  function score (monday: number, elapsed: number) {
    const week = Array.from({ length: elapsed }, (_, index) => monday + index)
    const on = (type: string) => week.map((day) => of(type, day, day)).filter((logs) => logs.length > 0)
    const scores = [
      Math.min(1, of('WORKOUT', monday, monday + elapsed - 1).length / 3),
      mean(
        on('FOOD').map((foods) =>
          Math.max(0, 1 - Math.abs(sum(foods.map(({ data }) => data.calories)) - 2_000) / 2_000)
        )
      ),
      sum(on('WATER').map((waters) => Math.min(1, sum(waters.map(({ data }) => data.ml)) / 2_000))) / elapsed,
      0.7 * Math.min(1, mean(on('SLEEP').map((sleeps) => sum(sleeps.map(({ data }) => data.minutes)))) / 480) +
      0.3 * mean(on('SLEEP').flat().map(({ data }) => data.quality ?? 0)) / 5
    ].map((part) => Math.round(part * 100)) as [number, number, number, number]
    return { scores, overall: Math.round((scores[0] * 30 + scores[1] * 25 + scores[2] * 20 + scores[3] * 25) / 100) }
  }
  const [now7, before] = [score(monday, today - monday + 1), score(monday - 7, 7)]
  const pillars = ['WORKOUT', 'FOOD', 'WATER', 'SLEEP']
  return {
    stats: {
      streak: streakLength(days, today),
      longestStreak: Math.max(0, ...days.map((day) => streakLength(days, day))),
      totalXp: xp,
      totalWorkouts: workouts.length,
      avgWorkoutDuration: Math.round(mean(workouts.map(({ data }) => data.durationMinutes ?? 0))),
      workoutsThisWeek: of('WORKOUT', monday).length,
      workoutsThisMonth: of('WORKOUT', first).length,
      todayCalories: sum(of('FOOD', today).map(({ data }) => data.calories)),
      todayProtein: sum(of('FOOD', today).map(({ data }) => data.protein)),
      currentWeight: of('WEIGHT').sort((one, other) => one.at.localeCompare(other.at)).at(-1)?.data.kg ?? null
    },
    health: {
      overallScore: now7.overall,
      previousScore: before.overall,
      metrics: {
        workout: {
          score: now7.scores[0],
          streak: streakLength(workouts.map(({ at }) => mondayOf(dayIn(zone, at))), monday, 7)
        },
        nutrition: { score: now7.scores[1] },
        water: {
          score: now7.scores[2],
          streak: streakLength(of('WATER').map(({ at }) => count(dayIn(zone, at))), today)
        },
        sleep: { score: now7.scores[3] }
      }
    },
    overview: Array.from({ length: 7 }, (_, index) => today - 6 + index)
      .map((
        day
      ) => [new Date(day * DAY).toISOString().slice(0, 10), ...pillars.map((type) => of(type, day, day).length > 0)])
  }
}

// The last moments of a week, a month and a year, and the first of the next, in one of the time zones.
const moments = [
  '2026-12-31T09:59:00Z',
  '2026-12-31T17:00:00Z',
  '2027-01-01T07:59:00Z',
  '2027-01-01T08:00:00Z',
  '2027-01-03T11:00:00Z',
  '2027-01-03T17:00:00Z',
  '2027-01-04T08:01:00Z'
]

for (const [index, zone] of zones.entries()) {
  t.test(`at the ends of weeks, months and years all screens match an independent calculation, in ${zone}`, async (t) => {
    const { log, read } = newUser({ now: '2027-01-05T00:00:00Z', zone })
    // Pseudo-random and reproducible.
    let state = index + 1
    const random = (below: number) => {
      state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
      return Math.floor(state / 4_294_967_296 * below)
    }
    const makers = [
      (at: string) => workout(at, { durationMinutes: 10 + random(90) }),
      (at: string) => food(at, { calories: 100 + random(1_200), protein: random(40) }),
      (at: string) => water(at, 100 + random(900)),
      (at: string) => sleep(at, { minutes: 200 + random(300), quality: 1 + random(5) }),
      (at: string) => weight(at, 60 + random(20))
    ]
    const logs = Array.from({ length: 120 }, (_, number) => {
      const at = new Date(Date.parse('2026-12-15T00:00:00Z') + random(21 * 24 * 60) * 60_000 + number).toISOString()
      return makers[random(makers.length)]?.(at) as Log
    }).sort((one, other) => one.at.localeCompare(other.at))

    let written = 0
    for (const moment of moments) {
      setClock(moment)
      const upTo = logs.filter(({ at }) => at <= moment)
      if (upTo.length > written) await log(...upTo.slice(written))
      written = upTo.length
      const { stats, health, overview } = computeExpected(upTo, zone, moment)
      t.match((await read('/dashboard/home')).stats, stats, `${moment} home`)
      t.match(await read('/dashboard/health-score'), health, `${moment} health score`)
      t.same(
        (await read('/dashboard/weekly-overview')).days.map((
          { date, workout, nutrition, water, sleep }: Record<string, unknown>
        ) => [date, workout, nutrition, water, sleep]),
        overview,
        `${moment} week`
      )
    }
  })
}
