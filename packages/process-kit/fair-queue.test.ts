import t from 'tap'
import { createFairQueue } from './fair-queue.ts'

const createError = () => new Error('full')

/** Enqueues jobs at once; returns the order in which they started or were rejected. */
async function orderOf (options: Omit<Parameters<typeof createFairQueue>[0], 'createError'>, jobs: string[]) {
  const enqueue = createFairQueue({ ...options, createError })
  const started: string[] = []
  const rejected: string[] = []
  await Promise.all(jobs.map(async (job) => {
    const work = async () => {
      started.push(job)
    }
    await enqueue(job.charAt(0), work).catch(() => rejected.push(job))
  }))
  return { started, rejected }
}

t.test('owners take turns, however many jobs they have', async (t) => {
  const jobs = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']
  t.strictSame(await orderOf({ concurrency: 1, maxWaiting: 10 }, jobs), {
    started: ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'],
    rejected: []
  })
})

t.test('a full queue rejects the newest job of the owner with the most', async (t) => {
  const jobs = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'c1', 'c2', 'b2']
  // a1 starts. a6 finds the queue full of a's own jobs; b1 and c1 replace a5 and a4; c2 and b2 cannot replace jobs of
  // owners with equally many.
  t.strictSame(await orderOf({ concurrency: 1, maxWaiting: 4 }, jobs), {
    started: ['a1', 'a2', 'b1', 'c1', 'a3'],
    rejected: ['a6', 'a5', 'a4', 'c2', 'b2']
  })
})

t.test('the waiting jobs of one owner are limited, also while the queue has room', async (t) => {
  const jobs = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']
  t.strictSame(await orderOf({ concurrency: 1, maxWaiting: 10, maxWaitingPerOwner: 2 }, jobs), {
    started: ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'],
    rejected: ['a4']
  })
})

t.test('the running jobs of one owner are limited, even if slots are free, and a failure frees a slot', async (t) => {
  const enqueue = createFairQueue({ concurrency: 2, concurrencyPerOwner: 1, maxWaiting: 10, createError })
  const [held, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let started = 0
  const count = async () => {
    started++
  }
  const jobs = [enqueue('ana', async () => await held.promise), enqueue('ana', count)]
  await enqueue('ben', count)
  t.equal(started, 1, 'no second job of ana')
  const failed = enqueue('ben', async () => await failing.promise)
  const next = enqueue('ben', count)
  failing.reject(new Error('broken'))
  await t.rejects(failed, { message: 'broken' })
  await next
  held.resolve()
  await Promise.all(jobs)
  t.equal(started, 3)
})

t.test('a job that is aborted while it waits leaves the queue, and one that runs goes on', async (t) => {
  const enqueue = createFairQueue({ concurrency: 1, maxWaiting: 3, createError })
  const held = Promise.withResolvers<void>()
  const started: string[] = []
  const add = (job: string, signal?: AbortSignal) =>
    enqueue(job.charAt(0), async () => {
      started.push(job)
      await held.promise
    }, signal)
  const left = new AbortController()
  const reason = new Error('left')

  const running = add('a1', left.signal)
  const waiting = [add('a2', left.signal), add('b1', left.signal), add('a3')]
  left.abort(reason)
  await t.rejects(waiting[0]!, reason)
  await t.rejects(waiting[1]!, reason)
  await t.rejects(add('c1', left.signal), reason, 'one that is aborted already does not wait')
  const more = [add('b2'), add('c2')]
  held.resolve()
  await Promise.all([running, waiting[2], ...more])
  t.strictSame(started, ['a1', 'a3', 'b2', 'c2'])
})
