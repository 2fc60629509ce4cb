import { withTimeout } from '@tandem/process-kit'
import { initializeAttempts, memoryReaders, queues } from './metrics.ts'
import { createProducer } from './producer.ts'
import { connectRedis, readMemory } from './redis.ts'
import { createSweeper } from './sweeper.ts'
import type { Queue, QueueOptions } from './types.ts'
import { startWorker } from './worker.ts'

const ENQUEUE_TIMEOUT_MS = 2_000

/**
 * A queue whose source of truth is a table in Postgres. A job carries only a row's id and the ids for its log lines, so
 * nothing is lost when Redis is down or wiped. A job that runs twice does nothing twice as long as `work` claims its
 * row.
 */
export function createQueue (
  {
    concurrency = 5,
    sweepIntervalSeconds = 15,
    sweepMinAgeSeconds = 60,
    closeTimeoutSeconds = 8,
    prefix = 'tandem',
    name,
    redisUrl,
    log,
    work,
    listPending
  }: QueueOptions
): Queue {
  let isClosed = false
  const isNeeded = () => !isClosed
  // Not that of the worker, whose commands block.
  const redis = connectRedis(redisUrl, log, isNeeded, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    socketTimeout: 5_000
  })
  const producer = createProducer({ name, prefix, redis })
  // Outside BullMQ's own `prefix:name:`, where every job has its own key.
  const sentinelKey = `${prefix}:${name}.sentinelKey`
  const sweeper = createSweeper({
    listPending,
    minAgeSeconds: sweepMinAgeSeconds,
    // The key is missing after Redis was wiped, and all jobs with it.
    wasWiped: async () => await redis.set(sentinelKey, '1', 'NX') === 'OK',
    async enqueueAgain (jobs) {
      await producer.removeFailed(jobs)
      await producer.add(jobs)
    },
    isStopped: () => isClosed,
    onFailure: (error) => log.warn({ err: error, queue: name }, 'a sweep of pending rows failed and will be repeated')
  })
  const sweep = () => {
    if (redis.status === 'ready') void sweeper.sweep()
  }
  const measureMemory = async () => await readMemory(redis)
  let worker: ReturnType<typeof startWorker> | undefined
  let sweepTimer: NodeJS.Timeout | undefined

  const queue: Queue = {
    async enqueue (jobs) {
      try {
        await withTimeout(ENQUEUE_TIMEOUT_MS, producer.add(jobs))
      } catch (error) {
        if (!sweeper.requestFullSweep()) return
        log.warn({ err: error, queue: name }, 'Redis accepted no job: the rows are enqueued again once it is back')
      }
    },

    start () {
      if (worker || isClosed) return
      worker = startWorker({ name, redisUrl, log, work, concurrency, closeTimeoutSeconds, prefix, isNeeded })
      redis.on('ready', () => {
        // Jobs of the last second before a crash may not be on Redis's disk.
        sweeper.requestFullSweep()
        sweep()
      })
      sweepTimer = setInterval(sweep, sweepIntervalSeconds * 1_000)
      sweep()
    },

    async close () {
      if (isClosed) return
      isClosed = true
      queues.delete(name)
      memoryReaders.delete(measureMemory)
      clearInterval(sweepTimer)
      await sweeper.waitUntilIdle()
      await worker?.close()
      await producer.close()
      redis.disconnect()
    },

    async ping () {
      if (redis.status !== 'ready') throw new Error('Redis is unavailable')
      await redis.ping()
    },

    depth: async () => await producer.depth()
  }
  queues.set(name, queue)
  memoryReaders.add(measureMemory)
  initializeAttempts(name)
  return queue
}
