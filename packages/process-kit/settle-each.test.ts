import t from 'tap'
import { runSteps, settleBatches, settleEach } from './settle-each.ts'

const failing = (...numbers: number[]) => {
  const done: number[] = []
  return {
    done,
    work: async (number: number) => {
      if (numbers.includes(number)) throw new RangeError(`no ${number}`)
      done.push(number)
    }
  }
}

t.test('every item runs once, in order, also after one has failed', async (t) => {
  const { done, work } = failing(2)
  await t.rejects(settleEach([1, 2, 3, 4], work), new RangeError('no 2'))
  t.same(done, [1, 3, 4])
})

t.test('several failures are one error with all causes', async (t) => {
  const { done, work } = failing(1, 4)
  await t.rejects(settleEach(new Set([1, 2, 3, 4]), work), {
    name: 'AggregateError',
    message: '2 items failed',
    errors: [new RangeError('no 1'), new RangeError('no 4')]
  })
  t.same(done, [2, 3])
})

t.test('concurrent items run once each', async (t) => {
  const { done, work } = failing(3)
  await t.rejects(settleEach([1, 2, 3, 4, 5], work, { concurrency: 10 }), new RangeError('no 3'))
  t.same(done.sort((one, other) => one - other), [1, 2, 4, 5])
  await settleEach([], work)
  await settleEach([6], work)
})

t.test('batches go on after failures, and end when a whole one fails', async (t) => {
  const batches = (keys: string[], work: (key: string) => Promise<unknown>) =>
    settleBatches({
      batchSize: 2,
      list: async (after = '') => keys.filter((key) => key > after).slice(0, 2),
      work
    })
  const tried: string[] = []
  const failing = (...wrong: string[]) => async (key: string) => {
    tried.push(key)
    if (wrong.includes(key)) throw new RangeError(key)
  }
  t.strictSame(await batches(['a', 'b', 'c', 'd', 'e'], failing('b', 'c')), [new RangeError('b'), new RangeError('c')])
  t.strictSame(tried.splice(0), ['a', 'b', 'c', 'd', 'e'])
  t.equal((await batches(['a', 'b', 'c', 'd', 'e'], failing('c', 'd'))).length, 2)
  t.strictSame(tried.splice(0), ['a', 'b', 'c', 'd'])
  t.strictSame(await batches([], failing()), [])
})

t.test('every step runs, and each failure has the name of its step', async (t) => {
  const { done, work } = failing(1, 3)
  const step = (number: number) => async () => await work(number)
  await t.rejects(runSteps({ suspend: step(1), remind: step(2), purge: step(3), count: step(4) }), {
    name: 'AggregateError',
    errors: [
      { message: 'the step "suspend" failed', cause: new RangeError('no 1') },
      { message: 'the step "purge" failed', cause: new RangeError('no 3') }
    ]
  })
  t.same(done, [2, 4])
  await t.rejects(runSteps({ purge: step(3) }), { message: 'the step "purge" failed' })
  await runSteps({ count: step(4) })
})
