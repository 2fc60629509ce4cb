import t from 'tap'
import { Unavailable } from '@tandem/process-kit'
import { classifyFailure } from './classify-failure.ts'
import { Malformed } from './handlers.ts'
import { decideFirstRetry, decideNextRetry, hasExhaustedAttempts, isDeliveredTooOften } from './retry-policy.ts'

const COUNTED = { transient: false, permanent: false }
const TRANSIENT = { transient: true, permanent: false }
const PERMANENT = { transient: false, permanent: true }
const TWO_WEEKS_MS = 14 * 24 * 60 * 60 * 1_000
const recent = (attempts: number) => ({ attempts, ageMs: 5_000, isDeadLetter: false })

t.test('an unavailable service is a transient failure, an unreadable message a permanent one', async (t) => {
  t.match(classifyFailure(new Unavailable()), TRANSIENT)
  t.match(classifyFailure(new Malformed('no CloudEvent')), PERMANENT)
  t.match(classifyFailure(new Error('a defect')), COUNTED)
  t.match(classifyFailure('not an error'), COUNTED)
})

t.test('the first failure is retried after a second, a transient one at once, a permanent one never', async (t) => {
  t.same(decideFirstRetry(COUNTED), { attempts: 1, retryInMs: 1_000 })
  t.same(decideFirstRetry(TRANSIENT), { attempts: 0, retryInMs: 0 })
  t.same(decideFirstRetry(PERMANENT), { attempts: 1, retryInMs: undefined })
})

t.test('the delay doubles up to a minute, and the tenth failure makes a dead letter', async (t) => {
  const delays = Array.from({ length: 9 }, (_, index) => decideNextRetry(recent(index + 2), COUNTED).retryInMs)
  t.same(delays, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, undefined])
  t.equal(decideNextRetry(recent(10), COUNTED).attempts, 10)
})

t.test('a transient failure is retried every ten seconds for two weeks, and is not counted', async (t) => {
  t.same(decideNextRetry(recent(1), TRANSIENT), { attempts: 0, retryInMs: 10_000 })
  t.same(decideNextRetry(recent(10), TRANSIENT), { attempts: 9, retryInMs: 10_000 })
  const aged = (ageMs: number) => decideNextRetry({ ...recent(1), ageMs }, TRANSIENT).retryInMs
  t.equal(aged(TWO_WEEKS_MS), 10_000)
  t.equal(aged(TWO_WEEKS_MS + 1), undefined)
})

t.test('a permanent failure, and a replayed dead letter that fails again, are not retried', async (t) => {
  t.same(decideNextRetry(recent(2), PERMANENT), { attempts: 2, retryInMs: undefined })
  t.same(decideNextRetry({ ...recent(3), isDeadLetter: true }, TRANSIENT), { attempts: 2, retryInMs: undefined })
})

t.test('a message that ends every process that handles it is given up', async (t) => {
  t.same([5, 6].map(isDeliveredTooOften), [false, true])
  t.equal(hasExhaustedAttempts({ attempts: 10, isDeadLetter: false }), false)
  t.equal(hasExhaustedAttempts({ attempts: 11, isDeadLetter: false }), true)
  t.equal(hasExhaustedAttempts({ attempts: 11, isDeadLetter: true }), false, 'an operator replays it')
})
