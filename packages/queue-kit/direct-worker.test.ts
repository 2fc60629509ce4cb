import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createDirectWorker } from './direct-worker.ts'
import { retryAfter, type Job, type Outcome } from './types.ts'

function testWorker (work: (id: string) => Promise<Outcome>, closeTimeoutSeconds = 8) {
  const enqueued: Job[] = []
  const worker = createDirectWorker({
    name: 'letters',
    log: { info () {}, warn () {} },
    work,
    concurrency: 2,
    closeTimeoutSeconds,
    enqueue: async (job) => {
      enqueued.push(job)
    }
  })
  return { worker, enqueued }
}

t.test('only what is to be retried is enqueued, with the ids for its log lines', async (t) => {
  const { worker, enqueued } = testWorker(async (id) => {
    if (id === 'failing') throw new Error('no connection')
    if (id === 'later') return retryAfter(1_000)
  })
  worker.open()
  worker.start(['done', { id: 'later', correlation: { eventId: 'e1' } }, { id: 'failing', correlation: {} }])
  await worker.close()
  t.strictSame(enqueued, [
    { id: 'later', correlation: { eventId: 'e1' }, delayMs: 1_000 },
    { id: 'failing', correlation: {} }
  ])
})

t.test('slots are free while it is open and until they are taken', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { worker } = testWorker(async () => await promise)
  t.equal(worker.freeSlots(), 0)
  worker.open()
  t.equal(worker.freeSlots(), 2)
  worker.start(['one'])
  t.equal(worker.freeSlots(), 1)
  worker.start(['two', 'three'])
  t.equal(worker.freeSlots(), 0)
  resolve()
  await setImmediate()
  t.equal(worker.freeSlots(), 2)
  await worker.close()
  t.equal(worker.freeSlots(), 0)
})

t.test('a close waits for the running jobs, but not forever', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { worker } = testWorker(async () => await promise)
  worker.start(['slow'])
  let isClosed = false
  const closing = worker.close().then(() => {
    isClosed = true
  })
  await setImmediate()
  t.equal(isClosed, false)
  resolve()
  await closing

  const hanging = testWorker(async () => await new Promise(() => {}), 0.01).worker
  hanging.start(['never ends'])
  await hanging.close()
})
