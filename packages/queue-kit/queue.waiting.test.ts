// It kills Redis and waits for the consequences.
import { fork } from 'node:child_process'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind } from '@opentelemetry/api'
import { continueCorrelation, currentCorrelation, propagateTraces, type Correlation } from '@tandem/process-kit'
import { endsWithin, startRedis, until } from '@tandem/test-kit'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { createQueue, retryAfter, type Outcome, type QueueOptions } from './index.ts'

// A killed worker's lock lasts 15 s, so this file takes half a minute, most of it waiting.
t.jobs = 6
// As every process does at its start.
propagateTraces()

const log = { info () {}, warn () {} }

/** Rows as a table would hold them, with how often each was worked on. */
function table () {
  const rows = new Map<string, { since: number, done: number }>()
  return {
    rows,
    add: () => {
      const id = randomUUIDv7()
      rows.set(id, { since: Date.now(), done: 0 })
      return id
    },
    done: async (id: string): Promise<Outcome> => {
      rows.get(id)!.done++
    },
    counts: () => [...rows.values()].map((row) => row.done),
    async pending (
      { olderThanSeconds, limit, after = '' }: { olderThanSeconds: number, limit: number, after: string | undefined }
    ) {
      return [...rows].filter(([id, row]) =>
        row.done === 0 && id > after && row.since <= Date.now() - olderThanSeconds * 1_000
      )
        .map(([id]) => id).sort().slice(0, limit)
    }
  }
}

function open (t: Test, redisUrl: string, options: Partial<QueueOptions>) {
  const queue = createQueue({
    name: 'letters',
    redisUrl,
    log,
    work: async () => {},
    listPending: async () => [],
    prefix: randomUUIDv7(),
    ...options
  })
  t.teardown(() => queue.close())
  return queue
}

async function untilConnected (queue: { ping(): Promise<void> }) {
  await until(() => queue.ping().then(() => true, () => false))
}

t.test('a row is worked on once, however often it is enqueued', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const queue = open(t, redis.url, { work: letters.done, listPending: letters.pending })
  const ids = Array.from({ length: 20 }, letters.add)
  await untilConnected(queue)

  await queue.enqueue(ids)
  await queue.enqueue(ids)
  queue.start()
  await until(() => letters.counts().every((count) => count > 0))

  t.strictSame(letters.counts(), ids.map(() => 1))
  await until(async () => (await queue.depth()).active === 0)
  t.strictSame(await queue.depth(), { waiting: 0, active: 0, delayed: 0, failed: 0 })
})

t.test('a job has the correlation of the code that enqueued it', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const seen: Correlation[] = []
  const queue = open(t, redis.url, {
    work: async (id) => {
      seen.push(currentCorrelation())
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  const ids = { requestId: randomUUID(), eventId: randomUUID() }
  await continueCorrelation(ids, 'a request', SpanKind.SERVER, () => queue.enqueue([letters.add()]))
  await until(() => seen.length === 1)
  t.match(seen, [ids])

  const other = { requestId: randomUUID() }
  await continueCorrelation(
    ids,
    'a batch',
    SpanKind.SERVER,
    () => queue.enqueue([{ id: letters.add(), correlation: other }])
  )
  await until(() => seen.length === 2)
  t.match(seen[1], { ...other, eventId: undefined })
})

t.test('a row that is done can be enqueued again', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const queue = open(t, redis.url, { work: letters.done })
  queue.start()
  await untilConnected(queue)
  const id = letters.add()

  for (const times of [1, 2, 3]) {
    await queue.enqueue([id])
    await until(() => letters.rows.get(id)?.done === times)
    await until(async () => (await queue.depth()).active === 0)
  }
})

t.test('a job that throws is retried', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  let attempts = 0
  const queue = open(t, redis.url, {
    work: async (id) => {
      if (++attempts < 3) throw new Error('not yet')
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  await queue.enqueue([letters.add()])

  await until(() => letters.counts()[0] === 1)
  t.equal(attempts, 3)
})

t.test('a job that returns retryAfter waits until then, and does not count as failed', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const at: number[] = []
  const queue = open(t, redis.url, {
    work: async (id) => {
      at.push(Date.now())
      if (at.length < 10) return retryAfter(200)
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  await queue.enqueue([letters.add()])

  await until(() => letters.counts()[0] === 1)
  t.equal(at.length, 10, 'more often than a failure is retried')
  t.ok(at.every((time, index) => index === 0 || time - at[index - 1]! >= 195))
})

t.test('a job waits for its delay', async (t) => {
  const redis = await startRedis(t)
  const doneAt = new Map<string, number>()
  const queue = open(t, redis.url, {
    work: async (id) => {
      doneAt.set(id, Date.now())
    }
  })
  queue.start()
  await untilConnected(queue)
  const since = Date.now()
  await queue.enqueue([{ id: 'row-late', delayMs: 1_000 }, { id: 'row-now', delayMs: 0 }])

  await until(() => doneAt.size === 2)
  t.ok(doneAt.get('row-late')! - since >= 1_000)
  t.ok(doneAt.get('row-now')! < doneAt.get('row-late')!)
})

t.test('a row whose job failed for good can be enqueued again', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  let isBroken = true
  const prefix = randomUUIDv7()
  const queue = open(t, redis.url, {
    prefix,
    sweepIntervalSeconds: 0.2,
    sweepMinAgeSeconds: 0,
    listPending: letters.pending,
    work: async (id) => {
      if (isBroken) throw Object.assign(new Error('no more attempts'), { name: 'UnrecoverableError' })
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  await queue.enqueue([letters.add()])
  await sleep(1_000)
  t.strictSame(letters.counts(), [0])

  isBroken = false
  await until(() => letters.counts()[0] === 1)
})

t.test('while Redis is down enqueue returns at once, and the row is worked on once Redis is back', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const queue = open(t, redis.url, { work: letters.done, listPending: letters.pending })
  queue.start()
  await untilConnected(queue)
  await redis.stop()

  t.ok(await endsWithin(500, queue.enqueue([letters.add()])))
  await t.rejects(queue.ping())

  await sleep(3_000)
  await redis.start()
  await until(() => letters.counts()[0] === 1, 30)
})

t.test('a queue can be opened before Redis is up', async (t) => {
  const redis = await startRedis(t)
  await redis.stop()
  const letters = table()
  const queue = open(t, redis.url, { work: letters.done, listPending: letters.pending })
  queue.start()
  await queue.enqueue([letters.add()])
  await redis.start()
  await until(() => letters.counts()[0] === 1, 30)
})

t.test('enqueue takes 2 s at most while Redis is frozen', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const queue = open(t, redis.url, { work: letters.done, listPending: letters.pending })
  queue.start()
  await untilConnected(queue)
  process.kill(redis.pid!, 'SIGSTOP')
  t.ok(await endsWithin(2_500, queue.enqueue([letters.add()])))
  await sleep(6_000)
  process.kill(redis.pid!, 'SIGCONT')
  await until(() => letters.counts()[0] === 1)
})

t.test('a Redis that is wiped under load loses nothing', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  const queue = open(t, redis.url, {
    listPending: letters.pending,
    sweepIntervalSeconds: 1,
    sweepMinAgeSeconds: 3_600,
    work: async (id) => {
      await sleep(5)
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  const intruder = new Redis(redis.url)
  t.teardown(() => intruder.disconnect())

  for (let round = 0; round < 40; round++) {
    await queue.enqueue(Array.from({ length: 50 }, letters.add))
    if (round % 10 === 9) await intruder.flushall()
  }
  await until(() => letters.counts().every((count) => count > 0))
  t.equal(letters.counts().length, 2_000)
})

t.test('close waits for the running job and takes no other', async (t) => {
  const redis = await startRedis(t)
  const letters = table()
  let started = 0
  const queue = open(t, redis.url, {
    concurrency: 1,
    work: async (id) => {
      started++
      await sleep(500)
      await letters.done(id)
    }
  })
  queue.start()
  await untilConnected(queue)
  await queue.enqueue([letters.add(), letters.add()])
  await until(() => started === 1)

  await queue.close()
  t.strictSame(letters.counts(), [1, 0])
  t.equal(started, 1)
})

t.test('close finishes while Redis is down', async (t) => {
  const redis = await startRedis(t)
  const queue = open(t, redis.url, { closeTimeoutSeconds: 1 })
  queue.start()
  await untilConnected(queue)
  await sleep(200)
  await redis.stop()
  t.ok(await endsWithin(2_000, queue.close()))
})

t.test('close finishes after a connection was just lost', async (t) => {
  const redis = await startRedis(t)
  const queue = open(t, redis.url, {})
  queue.start()
  await untilConnected(queue)
  const intruder = new Redis(redis.url)
  t.teardown(() => intruder.disconnect())
  const waiting = async () =>
    (await intruder.client('LIST') as string).split('\n').find((line) => line.includes('cmd=bzpopmin'))
  await until(async () => await waiting() !== undefined)

  await intruder.call('CLIENT', 'KILL', 'ID', /id=(\d+)/.exec((await waiting())!)![1]!)
  await sleep(20)
  t.ok(await endsWithin(1_000, queue.close()))
})

t.test('the row of a killed worker is worked on by another', async (t) => {
  const redis = await startRedis(t)
  const prefix = randomUUIDv7()
  const letters = table()
  const id = letters.add()

  const child = fork(new URL('hanging-worker.ts', import.meta.url), [redis.url, prefix])
  t.teardown(() => child.kill('SIGKILL'))
  const queue = open(t, redis.url, { prefix, work: letters.done })
  await untilConnected(queue)
  let taken: unknown
  child.once('message', (message) => {
    taken = message
  })
  // Again, as Redis may not accept it within two seconds on a busy machine, and nothing sweeps yet.
  await until(async () => {
    await queue.enqueue([id])
    return taken !== undefined
  })
  t.equal(taken, id)
  child.kill('SIGKILL')

  queue.start()
  await until(() => letters.counts()[0] === 1)
  t.equal((await queue.depth()).failed, 0)
})
