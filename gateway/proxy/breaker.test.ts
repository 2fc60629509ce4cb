import t from 'tap'
import { createBreaker } from './breaker.ts'
import { createBudget } from './retry-budget.ts'

function testBreaker () {
  const clock = { now: 1_000_000 }
  const changes: boolean[] = []
  return { clock, changes, ...createBreaker((open) => changes.push(open), () => clock.now) }
}
const times = (n: number, work: () => void) => { for (let i = 0; i < n; i++) work() }

t.test('it opens at half of twenty, not before', async (t) => {
  const few = testBreaker()
  times(19, few.failed)
  t.ok(few.allowRequest())
  few.failed()
  t.notOk(few.allowRequest())

  const mixed = testBreaker()
  times(11, mixed.answered)
  times(10, mixed.failed)
  t.ok(mixed.allowRequest(), 'under half')
  mixed.failed()
  t.notOk(mixed.allowRequest())
})

t.test('what is older than ten seconds does not count', async (t) => {
  const breaker = testBreaker()
  times(19, breaker.failed)
  breaker.clock.now += 10_000
  times(19, breaker.failed)
  t.ok(breaker.allowRequest())
})

t.test('after two seconds one is let through, and decides', async (t) => {
  const breaker = testBreaker()
  times(20, breaker.failed)
  breaker.clock.now += 1_999
  t.notOk(breaker.allowRequest())
  breaker.clock.now += 1
  t.ok(breaker.allowRequest())
  t.notOk(breaker.allowRequest(), 'only one')
  breaker.failed()
  t.notOk(breaker.allowRequest())

  breaker.clock.now += 2_000
  t.ok(breaker.allowRequest())
  breaker.ignored()
  t.ok(breaker.allowRequest(), 'another one, as the first said nothing')
  breaker.answered()
  t.ok(breaker.allowRequest() && breaker.allowRequest())
  t.strictSame(breaker.changes, [true, false])
  times(19, breaker.failed)
  t.ok(breaker.allowRequest(), 'the past is forgotten')
})

t.test('a request that was on its way when it opened does not close it', async (t) => {
  const breaker = testBreaker()
  times(20, breaker.failed)
  breaker.answered()
  t.notOk(breaker.allowRequest())
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
