import { DelayedError, Queue as Producer, Worker } from 'bullmq'
import { SpanKind } from '@opentelemetry/api'
import { continueCorrelation, currentCorrelation, type Correlation } from '@tandem/process-kit'
import type { Redis } from 'ioredis'
import { attempts, queues } from './metrics.ts'
import { connectRedis, withTimeout } from './redis.ts'
import type { EnqueueOptions, Job, Outcome, Queue, QueueOptions } from './types.ts'

const WEEK_IN_SECONDS = 7 * 24 * 60 * 60
const PAGE_SIZE = 500
const PAGES_PER_SWEEP = 4
const LOW_PRIORITY = 10

const retries = { attempts: 8, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } }
const retention = { removeOnComplete: true, removeOnFail: { age: WEEK_IN_SECONDS, count: 10_000 } }

/**
 * A queue whose source of truth is a table in Postgres. A job carries only a row's id and the ids for its
 * log lines, so nothing is lost when Redis is down or wiped, and a job that runs twice does nothing twice as long as `work` claims its row.
 */
export function createQueue (options: QueueOptions): Queue {
  const {
    name,
    redisUrl,
    log,
    work,
    listPending,
    concurrency = 5,
    sweepIntervalSeconds = 15,
    sweepMinAgeSeconds = 60,
    closeTimeoutSeconds = 8,
    prefix = 'tandem'
  } = options
  // Outside BullMQ's own `prefix:name:`, where every job has its own key.
  const sentinelKey = `${prefix}:${name}.sentinelKey`

  let isClosed = false
  const isNeeded = () => !isClosed
  const redis = connectRedis(redisUrl, log, isNeeded, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: 2_000,
    socketTimeout: 5_000
  })
  let producer: Producer | undefined
  let worker: { redis: Redis, bull?: Worker<Correlation> } | undefined
  const running = new Set<Promise<Outcome>>()
  let sweeper: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined
  let cursor: string | undefined
  let needsFullSweep = true

  async function openProducer () {
    // BullMQ would wait for Redis forever.
    if (redis.status !== 'ready') throw new Error('Redis is unavailable')
    if (!producer) {
      producer = new Producer(name, { connection: redis, prefix, streams: { events: { maxLen: 100 } } })
      producer.on('error', () => {})
    }
    const opened = producer
    try {
      await opened.waitUntilReady()
    } catch (error) {
      // A producer whose first command failed stays broken.
      if (producer === opened) producer = undefined
      throw error
    }
    return opened
  }

  async function add (jobs: Job[], shared: EnqueueOptions = {}) {
    if (jobs.length === 0) return
    const opened = await openProducer()
    await opened.addBulk(jobs.map((job) => {
      const { id, delayMs, priority, correlation = currentCorrelation() } = {
        ...shared,
        ...(typeof job === 'string' ? { id: job } : job)
      }
      return {
        name,
        data: correlation,
        opts: {
          ...retries,
          ...retention,
          jobId: id,
          ...(delayMs && { delay: delayMs }),
          ...(priority === 'low' && { priority: LOW_PRIORITY })
        }
      }
    }))
  }

  // Redis keeps a failed job for a week, and until then ignores another job with its id.
  async function removeFailed (jobs: Job[]) {
    if (jobs.length === 0) return
    const opened = await openProducer()
    const ids = jobs.map((job) => typeof job === 'string' ? job : job.id)
    const scores = await redis.zmscore(opened.toKey('failed'), ...ids)
    await Promise.all(ids.filter((_, index) => scores[index] !== null).map((id) => opened.remove(id)))
  }

  async function sweep () {
    if (redis.status !== 'ready') return
    const wasRequested = needsFullSweep
    try {
      // The sentinel key is missing after Redis was wiped, and all jobs with it.
      const wasWiped = await redis.set(sentinelKey, '1', 'NX') === 'OK'
      const isFullSweep = wasRequested || wasWiped
      needsFullSweep = false
      if (isFullSweep) cursor = undefined
      let pages = 0
      do {
        const jobs = await listPending({
          olderThanSeconds: isFullSweep ? 0 : sweepMinAgeSeconds,
          limit: PAGE_SIZE,
          after: cursor
        })
        await removeFailed(jobs)
        await add(jobs)
        const last = jobs.length < PAGE_SIZE ? undefined : jobs.at(-1)
        cursor = typeof last === 'string' ? last : last?.id
        pages++
      } while (cursor && !isClosed && (isFullSweep || pages < PAGES_PER_SWEEP))
    } catch (error) {
      needsFullSweep = true
      log.warn({ err: error, queue: name }, 'a sweep of pending rows failed and will be repeated')
    }
  }

  function sweepNow () {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined
    })
  }

  function startWorker () {
    const connection = connectRedis(redisUrl, log, isNeeded, { maxRetriesPerRequest: null, socketTimeout: 15_000 })
    const started: NonNullable<typeof worker> = worker = { redis: connection }
    connection.once('ready', () => {
      if (isClosed) return
      started.bull = new Worker<Correlation>(name, async (job, token) => {
        const working = continueCorrelation(job.data, `work on ${name}`, SpanKind.CONSUMER, () => work(job.id!))
        running.add(working)
        const outcome = await working.finally(() => running.delete(working))
        attempts.inc({ queue: name, outcome: outcome ? 'delayed' : 'done' })
        if (!outcome) return
        await job.moveToDelayed(Date.now() + outcome.retryAfterMs, token)
        throw new DelayedError()
      }, {
        connection,
        prefix,
        concurrency,
        lockDuration: 15_000,
        stalledInterval: 5_000,
        // With the default of 1, a job fails for good when its worker crashed twice, whatever the cause.
        maxStalledCount: 20,
        runRetryDelay: 1_000
      })
      started.bull.on('error', (error) => log.warn({ err: error, queue: name }, 'the worker had an error'))
      started.bull.on('failed', (job, error) => {
        attempts.inc({ queue: name, outcome: 'failed' })
        const { traceparent, ...ids } = job?.data ?? {}
        const details = { queue: name, job: job?.id, attempt: job?.attemptsMade, traceId: traceparent?.split('-')[1] }
        log.warn({ err: error, ...details, ...ids }, 'a job failed')
      })
    })
  }

  // BullMQ would wait for a connection that is down. That is unnecessary: the rows know what is done.
  async function closeWorker (redis: Redis, bull: Worker<Correlation>) {
    const blocking = await bull.getBackend().blockingClient
    await bull.close(running.size > 0 || redis.status !== 'ready' || blocking?.status !== 'ready')
  }

  const queue: Queue = {
    async enqueue (jobs, shared) {
      try {
        await withTimeout(2_000, add(jobs, shared))
      } catch (error) {
        if (!needsFullSweep) {
          log.warn({ err: error, queue: name }, 'Redis accepted no job: the rows are enqueued again once it is back')
        }
        needsFullSweep = true
      }
    },

    start () {
      if (worker || isClosed) return
      startWorker()
      redis.on('ready', () => {
        // Jobs of the last second before a crash may not be on Redis's disk.
        needsFullSweep = true
        sweepNow()
      })
      sweeper = setInterval(sweepNow, sweepIntervalSeconds * 1_000)
      sweepNow()
    },

    async close () {
      if (isClosed) return
      isClosed = true
      queues.delete(name)
      clearInterval(sweeper)
      await sweeping
      const logUnfinished = (error: unknown) =>
        log.warn({ err: error, queue: name }, 'jobs did not finish before the close')
      await worker?.bull?.pause(true)
      await withTimeout(closeTimeoutSeconds * 1_000, Promise.allSettled(running)).catch(logUnfinished)
      if (worker?.bull) await withTimeout(2_000, closeWorker(worker.redis, worker.bull)).catch(logUnfinished)
      worker?.redis.disconnect()
      await producer?.close().catch(() => {})
      redis.disconnect()
    },

    async ping () {
      if (redis.status !== 'ready') throw new Error('Redis is unavailable')
      await redis.ping()
    },

    async depth () {
      const opened = await openProducer()
      const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = await opened.getJobCounts(
        'wait',
        'prioritized',
        'active',
        'delayed',
        'failed'
      )
      return { waiting: wait + prioritized, active, delayed, failed }
    }
  }
  queues.set(name, queue)
  return queue
}
