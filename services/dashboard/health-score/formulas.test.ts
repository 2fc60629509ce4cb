import t from 'tap'
import { overallOf, scoresOf, trendOf, type DaySummary } from './formulas.ts'
import { tipsFor, weakestOf } from './tips.ts'

const targets = { dailyCalories: 2000, waterMl: 2000, sleepMinutes: 480, workoutsPerWeek: 3 }
const upTo = (lastDay: string) => ({ lastDay: Temporal.PlainDate.from(lastDay), targetsOn: () => targets })
const day = (date: string, logged: Partial<DaySummary>): DaySummary => ({
  day: date,
  workouts: 0,
  foodEntries: 0,
  calories: 0,
  waterMl: 0,
  sleepEntries: 0,
  sleepMinutes: 0,
  sleepQuality: 0,
  sleepRatings: 0,
  ...logged
})

t.test('the scores of a week match a calculation by hand', (t) => {
  const days = [
    // 1 - 200/2000 = 0.9; 1500/2000 = 0.75
    day('2026-11-16', {
      workouts: 1,
      foodEntries: 3,
      calories: 1800,
      waterMl: 1500,
      sleepEntries: 1,
      sleepMinutes: 420,
      sleepQuality: 4,
      sleepRatings: 1
    }),
    // 1 - 600/2000 = 0.7; 1
    day('2026-11-17', { foodEntries: 1, calories: 2600, waterMl: 3000 }),
    // two sleeps: 480 minutes, quality 3 and 2
    day('2026-11-18', { workouts: 1, sleepEntries: 2, sleepMinutes: 480, sleepQuality: 5, sleepRatings: 2 })
  ]
  // workout 2/3; nutrition (0.9 + 0.7)/2; water (0.75 + 1 + 0)/4 elapsed days; sleep 0.7·(450/480) + 0.3·(9/3)/5 =
  // 0.65625 + 0.18
  const scores = scoresOf(days, upTo('2026-11-19'))
  t.same(scores, { workout: 67, nutrition: 80, water: 44, sleep: 84 })
  // 0.30·67 + 0.25·80 + 0.20·44 + 0.25·84 = 69.9
  t.equal(overallOf(scores), 70)
  t.end()
})

t.test('no logs score 0, all targets met score 100, and exceeding them still scores 100', (t) => {
  t.same(scoresOf([], upTo('2026-11-16')), { workout: 0, nutrition: 0, water: 0, sleep: 0 })
  t.equal(overallOf({ workout: 0, nutrition: 0, water: 0, sleep: 0 }), 0)
  const best = day('2026-11-16', {
    workouts: 9,
    foodEntries: 1,
    calories: 2000,
    waterMl: 9000,
    sleepEntries: 1,
    sleepMinutes: 900,
    sleepQuality: 5,
    sleepRatings: 1
  })
  t.same(scoresOf([best], upTo('2026-11-16')), { workout: 100, nutrition: 100, water: 100, sleep: 100 })
  t.equal(overallOf({ workout: 100, nutrition: 100, water: 100, sleep: 100 }), 100)
  t.equal(scoresOf([day('2026-11-16', { foodEntries: 1, calories: 9000 })], upTo('2026-11-16')).nutrition, 0)
  t.end()
})

t.test('the scoreWeights are 30, 25, 20 and 25', (t) => {
  const only = (metric: object) => overallOf({ workout: 0, nutrition: 0, water: 0, sleep: 0, ...metric })
  t.same([only({ workout: 100 }), only({ nutrition: 100 }), only({ water: 100 }), only({ sleep: 100 })], [
    30,
    25,
    20,
    25
  ])
  t.end()
})

t.test('a difference of five points is neutral, six is a trend', (t) => {
  t.same([trendOf(55, 50), trendOf(56, 50), trendOf(45, 50), trendOf(44, 50), trendOf(50, 50)], [
    'neutral',
    'up',
    'neutral',
    'down',
    'neutral'
  ])
  t.end()
})

t.test('tips are about the weakest metric', (t) => {
  const scores = { workout: 80, nutrition: 80, water: 80, sleep: 80 }
  t.equal(weakestOf({ ...scores, water: 79 }), 'water')
  t.equal(weakestOf({ workout: 0, nutrition: 0, water: 0, sleep: 0 }), 'workout')
  t.equal(weakestOf({ workout: 50, nutrition: 20, water: 20, sleep: 20 }), 'nutrition')

  const tips = (metric: object, days: DaySummary[] = []) =>
    tipsFor({ ...scores, ...metric }, { days, targets }, 'id').join(' ')
  t.match(tips({}), 'Kerja bagus')
  t.match(tips({ workout: 10 }), 'satu sesi latihan')
  t.match(
    tips({ workout: 10 }, [day('2026-11-16', { workouts: 1 })]),
    'Tambah sesi latihanmu untuk mencapai target 3 kali'
  )
  t.match(tips({ nutrition: 10 }), 'Catat makananmu')
  t.match(tips({ nutrition: 10 }, [day('2026-11-16', { foodEntries: 1, calories: 3500 })]), 'di atas target')
  t.match(tips({ nutrition: 10 }, [day('2026-11-16', { foodEntries: 1, calories: 500 })]), 'di bawah target')
  t.match(tips({ water: 10 }), '2000 ml sehari')
  t.match(tips({ sleep: 10 }), 'Catat waktu tidurmu')
  t.match(
    tips({ sleep: 10 }, [day('2026-11-16', { sleepEntries: 1, sleepMinutes: 300, sleepQuality: 5, sleepRatings: 1 })]),
    'kurang dari target'
  )
  t.match(
    tips({ sleep: 79 }, [day('2026-11-16', { sleepEntries: 1, sleepMinutes: 500, sleepQuality: 1, sleepRatings: 1 })]),
    'Kualitas tidurmu'
  )
  t.end()
})
