import t from 'tap'
import { achievementsOf, kinds, progressOf, type Figures, type Kind } from './rules.ts'

const none: Figures = {
  workouts: 0,
  records: 0,
  level: 1,
  dayStreak: 0,
  weekStreak: 0,
  programPercent: 0,
  activities: 0
}
const edges: [keyof Figures, number, Kind][] = [
  ['workouts', 1, 'FIRST_WORKOUT'],
  ['workouts', 10, 'TEN_WORKOUTS'],
  ['workouts', 50, 'FIFTY_WORKOUTS'],
  ['workouts', 100, 'HUNDRED_WORKOUTS'],
  ['workouts', 500, 'FIVE_HUNDRED_WORKOUTS'],
  ['dayStreak', 7, 'STREAK_7'],
  ['dayStreak', 30, 'STREAK_30'],
  ['dayStreak', 100, 'STREAK_100'],
  ['dayStreak', 365, 'STREAK_365'],
  ['weekStreak', 4, 'WEEK_STREAK_4'],
  ['records', 1, 'FIRST_PR'],
  ['records', 10, 'TEN_PRS'],
  ['level', 5, 'LEVEL_5'],
  ['level', 10, 'LEVEL_10'],
  ['level', 25, 'LEVEL_25'],
  ['programPercent', 100, 'FIRST_PROGRAM'],
  ['activities', 5, 'FIVE_ACTIVITIES']
]

t.test('an achievement is earned at its threshold and not below', async (t) => {
  t.same(achievementsOf(none), [])
  t.same(edges.map(([, , kind]) => kind).sort(), [...kinds].sort(), 'every kind is here')
  for (const [figure, threshold, kind] of edges) {
    t.notOk(achievementsOf({ ...none, [figure]: threshold - 1 }).includes(kind), `${kind} not yet`)
    t.ok(achievementsOf({ ...none, [figure]: threshold }).includes(kind), kind)
  }
})

t.test('progress is 100 at the threshold only', async (t) => {
  for (const [figure, threshold, kind] of edges) {
    t.ok(progressOf(kind, { ...none, [figure]: threshold - 1 }) < 100, `${kind} not yet`)
    t.equal(progressOf(kind, { ...none, [figure]: threshold }), 100, kind)
    t.equal(progressOf(kind, { ...none, [figure]: threshold + 9 }), 100, kind)
  }
})
