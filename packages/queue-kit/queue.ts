import { DelayedError, Queue as Producer, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { queues, tries } from './metrics.ts'
import { keepConnected, within } from './redis.ts'
import type { Job, EnqueueOptions, Outcome, Queue, QueueOptions } from './types.ts'

const WEEK_IN_SECONDS = 7 * 24 * 60 * 60
const PAGE = 500
const PAGES_OF_A_SWEEP = 4
const LOW = 10

const retries = { attempts: 8, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } }
const keep = { removeOnComplete: true, removeOnFail: { age: WEEK_IN_SECONDS, count: 10_000 } }

/**
 * A queue whose truth is a table in Postgres: a job carries a row's id and nothing else, so Redis may be away or wiped
 * and nothing is lost, and a job may come twice and nothing is doubled as long as `work` claims its row.
 */
export function createQueue (options: QueueOptions): Queue {
  const { name, redisUrl, log, work, listPending, concurrency = 5, sweepIntervalSeconds = 15, sweepMinAgeSeconds = 60, closeTimeoutSeconds = 8, prefix = 'tandem' } = options
  // Not below BullMQ's own `prefix:name:`, where every job has a key of its own.
  const witness = `${prefix}:${name}.witness`

  let closed = false
  const wanted = () => !closed
  const redis = keepConnected(redisUrl, log, wanted, { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 2_000, socketTimeout: 5_000 })
  let producer: Producer | undefined
  let worker: { redis: Redis, bull?: Worker } | undefined
  const running = new Set<Promise<Outcome>>()
  let sweeper: NodeJS.Timeout | undefined
  let sweeping: Promise<void> | undefined
  let cursor: string | undefined
  let missed = true

  async function openProducer () {
    // BullMQ would wait for a Redis that is away, however long.
    if (redis.status !== 'ready') throw new Error('Redis is away')
    if (!producer) {
      producer = new Producer(name, { connection: redis, prefix, streams: { events: { maxLen: 100 } } })
      producer.on('error', () => {})
    }
    const opened = producer
    try {
      await opened.waitUntilReady()
    } catch (error) {
      // A producer whose first words failed stays broken.
      if (producer === opened) producer = undefined
      throw error
    }
    return opened
  }

  async function add (jobs: Job[], shared: EnqueueOptions = {}) {
    if (jobs.length === 0) return
    const opened = await openProducer()
    await opened.addBulk(jobs.map((job) => {
      const { id, delayMs, priority } = { ...shared, ...(typeof job === 'string' ? { id: job } : job) }
      return {
        name,
        data: {},
        opts: { ...retries, ...keep, jobId: id, ...(delayMs && { delay: delayMs }), ...(priority === 'low' && { priority: LOW }) }
      }
    }))
  }

  // Redis keeps a failed job for a week, and as long as it does, refuses another with its id.
  async function forgetFailed (jobs: Job[]) {
    if (jobs.length === 0) return
    const opened = await openProducer()
    const ids = jobs.map((job) => typeof job === 'string' ? job : job.id)
    const scores = await redis.zmscore(opened.toKey('failed'), ...ids)
    await Promise.all(ids.filter((_, index) => scores[index] !== null).map((id) => opened.remove(id)))
  }

  async function sweep () {
    if (redis.status !== 'ready') return
    const everything = missed
    try {
      // The witness is gone when Redis was wiped, and all jobs with it.
      const wiped = await redis.set(witness, '1', 'NX') === 'OK'
      const all = everything || wiped
      missed = false
      if (all) cursor = undefined
      let pages = 0
      do {
        const jobs = await listPending({ olderThanSeconds: all ? 0 : sweepMinAgeSeconds, limit: PAGE, after: cursor })
        await forgetFailed(jobs)
        await add(jobs)
        const last = jobs.length < PAGE ? undefined : jobs.at(-1)
        cursor = typeof last === 'string' ? last : last?.id
        pages++
      } while (cursor && !closed && (all || pages < PAGES_OF_A_SWEEP))
    } catch (error) {
      missed = true
      log.warn({ err: error, queue: name }, 'a sweep of waiting rows failed and will be repeated')
    }
  }

  function sweepNow () {
    sweeping ??= sweep().finally(() => { sweeping = undefined })
  }

  function startWorker () {
    const connection = keepConnected(redisUrl, log, wanted, { maxRetriesPerRequest: null, socketTimeout: 15_000 })
    const started: NonNullable<typeof worker> = worker = { redis: connection }
    connection.once('ready', () => {
      if (closed) return
      started.bull = new Worker(name, async (job, token) => {
        const working = work(job.id!)
        running.add(working)
        const outcome = await working.finally(() => running.delete(working))
        tries.inc({ queue: name, outcome: outcome ? 'put off' : 'done' })
        if (!outcome) return
        await job.moveToDelayed(Date.now() + outcome.retryAfterMs, token)
        throw new DelayedError()
      }, {
        connection,
        prefix,
        concurrency,
        lockDuration: 15_000,
        stalledInterval: 5_000,
        // One would fail a job for good when its worker died twice, whatever the job had to do with it.
        maxStalledCount: 20,
        runRetryDelay: 1_000
      })
      started.bull.on('error', (error) => log.warn({ err: error, queue: name }, 'the worker had an error'))
      started.bull.on('failed', (job, error) => {
        tries.inc({ queue: name, outcome: 'failed' })
        log.warn({ err: error, queue: name, job: job?.id, attempt: job?.attemptsMade }, 'a job failed')
      })
    })
  }

  // While one of its connections is away BullMQ would wait for it, and needs not: the rows know what is done.
  async function closeWorker (redis: Redis, bull: Worker) {
    const blocking = await bull.getBackend().blockingClient
    await bull.close(running.size > 0 || redis.status !== 'ready' || blocking?.status !== 'ready')
  }

  const queue: Queue = {
    async enqueue (jobs, shared) {
      try {
        await within(2_000, add(jobs, shared))
      } catch (error) {
        if (!missed) log.warn({ err: error, queue: name }, 'Redis took no job: the rows are offered again once it is back')
        missed = true
      }
    },

    start () {
      if (worker || closed) return
      startWorker()
      redis.on('ready', () => {
        // What was offered in the last second before a crash may not be on Redis's disk.
        missed = true
        sweepNow()
      })
      sweeper = setInterval(sweepNow, sweepIntervalSeconds * 1_000)
      sweepNow()
    },

    async close () {
      if (closed) return
      closed = true
      queues.delete(name)
      clearInterval(sweeper)
      await sweeping
      const unfinished = (error: unknown) => log.warn({ err: error, queue: name }, 'jobs were left unfinished')
      await worker?.bull?.pause(true)
      await within(closeTimeoutSeconds * 1_000, Promise.allSettled(running)).catch(unfinished)
      if (worker?.bull) await within(2_000, closeWorker(worker.redis, worker.bull)).catch(unfinished)
      worker?.redis.disconnect()
      await producer?.close().catch(() => {})
      redis.disconnect()
    },

    async ping () {
      if (redis.status !== 'ready') throw new Error('Redis is away')
      await redis.ping()
    },

    async depth () {
      const opened = await openProducer()
      const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = await opened.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed')
      return { waiting: wait + prioritized, active, delayed, failed }
    }
  }
  queues.set(name, queue)
  return queue
}
