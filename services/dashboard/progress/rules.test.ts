import t from 'tap'
import { xpForLevel, levelOf, xpToNextLevel } from './rules.ts'
import { changeStreaks } from './streaks.ts'

t.test('level n starts at 50·n·(n-1) XP', (t) => {
  t.same([1, 2, 3, 4, 5, 10].map(xpForLevel), [0, 100, 300, 600, 1000, 4500])
  for (let level = 1; level < 3_000; level++) {
    if (levelOf(xpForLevel(level)) !== level || levelOf(xpForLevel(level + 1) - 1) !== level) t.fail(`level ${level}`)
  }
  t.same([0, 99, 100, 299, 300].map(xpToNextLevel), [100, 1, 200, 1, 300])
  t.end()
})

t.test('streaks grow, merge, split and disappear', (t) => {
  const change = (streaks: [number, number][], changes: [number, boolean][], step = 1) =>
    changeStreaks(streaks.map(([first, last]) => ({ first, last })), new Map(changes), step).map((
      { first, last }
    ) => [first, last])
  t.same(change([], [[5, true]]), [[5, 5]])
  t.same(change([[1, 4]], [[5, true]]), [[1, 5]])
  t.same(change([[1, 4], [6, 9]], [[5, true]]), [[1, 9]])
  t.same(change([[1, 9]], [[5, false]]), [[1, 4], [6, 9]])
  t.same(change([[1, 9]], [[1, false], [9, false], [5, false], [6, false]]), [[2, 4], [7, 8]])
  t.same(change([[5, 5]], [[5, false]]), [])
  t.same(change([[1, 3]], [[5, true]]), [[1, 3], [5, 5]])
  t.same(change([[1, 3]], [[3, false], [4, true]]), [[1, 2], [4, 4]])
  t.same(change([[1, 9]], [[4, true]]), [[1, 9]])
  t.same(change([[4, 11]], [[18, true]], 7), [[4, 18]])
  t.same(change([[4, 18]], [[11, false]], 7), [[4, 4], [18, 18]])
  t.same(change([[-6, 1]], [[8, true]], 7), [[-6, 8]])
  t.end()
})
