import t from 'tap'
import { createBreaker } from './breaker.ts'
import { createBudget } from './budget.ts'

function testBreaker () {
  const clock = { now: 1_000_000 }
  const changes: boolean[] = []
  return { clock, changes, ...createBreaker((open) => changes.push(open), () => clock.now) }
}
const times = (n: number, work: () => void) => { for (let i = 0; i < n; i++) work() }

t.test('it opens at half of twenty, not before', async (t) => {
  const few = testBreaker()
  times(19, few.failed)
  t.ok(few.lets())
  few.failed()
  t.notOk(few.lets())

  const mixed = testBreaker()
  times(11, mixed.answered)
  times(10, mixed.failed)
  t.ok(mixed.lets(), 'under half')
  mixed.failed()
  t.notOk(mixed.lets())
})

t.test('what is older than ten seconds does not count', async (t) => {
  const breaker = testBreaker()
  times(19, breaker.failed)
  breaker.clock.now += 10_000
  times(19, breaker.failed)
  t.ok(breaker.lets())
})

t.test('after two seconds one is let through, and decides', async (t) => {
  const breaker = testBreaker()
  times(20, breaker.failed)
  breaker.clock.now += 1_999
  t.notOk(breaker.lets())
  breaker.clock.now += 1
  t.ok(breaker.lets())
  t.notOk(breaker.lets(), 'only one')
  breaker.failed()
  t.notOk(breaker.lets())

  breaker.clock.now += 2_000
  t.ok(breaker.lets())
  breaker.undecided()
  t.ok(breaker.lets(), 'another one, as the first said nothing')
  breaker.answered()
  t.ok(breaker.lets() && breaker.lets())
  t.strictSame(breaker.changes, [true, false])
  times(19, breaker.failed)
  t.ok(breaker.lets(), 'the past is forgotten')
})

t.test('a request that was on its way when it opened does not close it', async (t) => {
  const breaker = testBreaker()
  times(20, breaker.failed)
  breaker.answered()
  t.notOk(breaker.lets())
})

t.test('second tries are one in ten, and are not saved up without end', async (t) => {
  const budget = createBudget()
  t.notOk(budget.spend())
  times(11, budget.earn)
  t.ok(budget.spend())
  t.notOk(budget.spend())
  times(1_000, budget.earn)
  let spent = 0
  while (budget.spend()) spent++
  t.equal(spent, 10)
})
