import t from 'tap'
import { settleAll, settleEach } from './settle-each.ts'

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

t.test('every step runs, in order, also after one has failed', async (t) => {
  const { done, work } = failing(1)
  await t.rejects(settleAll([() => work(1), () => work(2), () => work(3)]), new RangeError('no 1'))
  t.same(done, [2, 3])
})
