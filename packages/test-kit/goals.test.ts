import t from 'tap'
import { describeGoal, isMet } from './goals.ts'

t.test('a goal is met on its bound, and missed beyond it', async (t) => {
  const goal = { name: 'gateway', reference: 'nginx' }
  t.ok(isMet({ ...goal, figure: 1.15, atMost: 1.15 }))
  t.notOk(isMet({ ...goal, figure: 1.16, atMost: 1.15 }))
  t.ok(isMet({ ...goal, figure: 1.8, atLeast: 1.8 }))
  t.notOk(isMet({ ...goal, figure: 1.79, atLeast: 1.8 }))
  t.notOk(isMet({ ...goal, figure: Number.NaN, atLeast: 1.8 }), 'a figure that was not measured')
})

t.test('a goal is described by its reference, its bound, its figure and its verdict', async (t) => {
  t.strictSame(
    describeGoal({ name: 'gateway', reference: 'nginx', figure: 2.345, atMost: 2 }),
    ['gateway', 'nginx', 'at most 2x', '2.35x', 'MISSED']
  )
  t.strictSame(
    describeGoal({ name: 'memory at rest', reference: 'each process', figure: 101.26, unit: 'MB', atMost: 110 }),
    ['memory at rest', 'each process', 'at most 110 MB', '101 MB', 'met']
  )
})
