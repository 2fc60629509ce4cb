import t from 'tap'
import { createBreaker } from './breaker.ts'
import { createRetryBudget } from './retry-budget.ts'

function testBreaker () {
  const clock = { now: 1_000_000 }
  const changes: boolean[] = []
  return { clock, changes, ...createBreaker((open) => changes.push(open), () => clock.now) }
}
const times = (n: number, work: () => void) => {
  for (let i = 0; i < n; i++) work()
}

t.test('the breaker opens once four fifths of twenty requests failed, not before', async (t) => {
  const few = testBreaker()
  times(19, few.failed)
  t.ok(few.allowRequest())
  few.failed()
  t.notOk(few.allowRequest())

  const mixed = testBreaker()
  times(10, mixed.succeeded)
  times(39, mixed.failed)
  t.ok(mixed.allowRequest(), 'under four fifths')
  mixed.failed()
  t.notOk(mixed.allowRequest())
})

t.test('failures older than ten seconds do not count', async (t) => {
  const breaker = testBreaker()
  times(19, breaker.failed)
  breaker.clock.now += 10_000
  times(19, breaker.failed)
  t.ok(breaker.allowRequest())
})

t.test('after two seconds one request is allowed, and its outcome decides', async (t) => {
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
  t.ok(breaker.allowRequest(), 'another one, as the outcome of the first was ignored')
  breaker.succeeded()
  t.ok(breaker.allowRequest() && breaker.allowRequest())
  t.strictSame(breaker.changes, [true, false])
  times(19, breaker.failed)
  t.ok(breaker.allowRequest(), 'earlier failures are forgotten')
})

t.test('a request that was already sent when the breaker opened does not close it', async (t) => {
  const breaker = testBreaker()
  times(20, breaker.failed)
  breaker.succeeded()
  t.notOk(breaker.allowRequest())
})

t.test('retries are limited to ten, and then to one in ten requests', async (t) => {
  const retries = createRetryBudget()
  const withdrawAll = () => {
    let withdrawn = 0
    while (retries.tryWithdraw()) withdrawn++
    return withdrawn
  }
  t.equal(withdrawAll(), 10, 'a gateway that has just started can retry')
  times(11, retries.deposit)
  t.equal(withdrawAll(), 1)
  times(1_000, retries.deposit)
  t.equal(withdrawAll(), 10)
})
