import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createBatcher } from './batcher.ts'

t.test('calls that arrive while a batch runs form the next batch, and each gets its own result', async (t) => {
  const batches: number[][] = []
  const double = createBatcher(async (numbers: number[]) => {
    batches.push(numbers)
    await sleep(10)
    return numbers.map((number) => number * 2)
  }, { maxItems: 3 })
  t.strictSame(await Promise.all([1, 2, 3, 4, 5, 6].map(double)), [2, 4, 6, 8, 10, 12])
  t.strictSame(batches, [[1], [2, 3, 4], [5, 6]])
  t.equal(await double(7), 14)
})

t.test('a batch can wait for the calls of its turn', async (t) => {
  const batches: number[][] = []
  const work = createBatcher(async (numbers: number[]) => {
    batches.push(numbers)
    return numbers
  }, { waitsForTurn: true })
  t.strictSame(await Promise.all([work(1), work(2)]), [1, 2])
  t.equal(await work(3), 3)
  t.strictSame(batches, [[1, 2], [3]])
})

t.test('a failed batch does not affect the next one', async (t) => {
  let fails = true
  const work = createBatcher(async (items: string[]) => {
    if (fails) throw new Error('unavailable')
    return items
  })
  await t.rejects(work('a'), { message: 'unavailable' })
  fails = false
  t.equal(await work('b'), 'b')
})

t.test('an item that fails does not make the rest of its batch fail', async (t) => {
  const work = createBatcher(async (items: string[]) => {
    await sleep(1)
    if (items.includes('bad')) throw new Error('bad')
    return items
  }, { isItemError: (error) => error instanceof Error && error.message === 'bad' })
  const outcomes = await Promise.allSettled(['first', 'a', 'bad', 'b'].map(work))
  t.match(outcomes, [{ value: 'first' }, { value: 'a' }, { status: 'rejected', reason: { message: 'bad' } }, {
    value: 'b'
  }])
})
