import { DelayedError, Worker } from 'bullmq'
import { SpanKind } from '@opentelemetry/api'
import { continueCorrelation, type Correlation, withTimeout } from '@tandem/process-kit'
import { attempts } from './metrics.ts'
import { connectRedis } from './redis.ts'
import type { QueueOptions } from './types.ts'

type Setting = 'name' | 'redisUrl' | 'log' | 'work' | 'concurrency' | 'closeTimeoutSeconds' | 'prefix'

interface WorkerOptions extends Required<Pick<QueueOptions, Setting>> {
  isNeeded(): boolean
}

/** Works on the jobs of a queue while it `isNeeded`, as soon as Redis is up. */
export function startWorker (options: WorkerOptions) {
  const { name, redisUrl, log, work, concurrency, closeTimeoutSeconds, prefix, isNeeded } = options
  const running = new Set<Promise<unknown>>()
  const redis = connectRedis(redisUrl, log, isNeeded, { maxRetriesPerRequest: null, socketTimeout: 15_000 })
  let worker: Worker<Correlation> | undefined

  redis.once('ready', () => {
    if (!isNeeded()) return
    worker = new Worker<Correlation>(name, async (job, token) => {
      const working = continueCorrelation(job.data, `work on ${name}`, SpanKind.CONSUMER, () => work(job.id!))
      running.add(working)
      const outcome = await working.finally(() => running.delete(working))
      attempts.inc({ queue: name, outcome: outcome ? 'delayed' : 'done' })
      if (!outcome) return
      await job.moveToDelayed(Date.now() + outcome.retryAfterMs, token)
      throw new DelayedError()
    }, {
      connection: redis,
      prefix,
      concurrency,
      // An idle worker asks this often, in seconds; a job ends the wait. It must be shorter than the socket's timeout.
      drainDelay: 10,
      lockDuration: 15_000,
      stalledInterval: 5_000,
      // With the default of 1, a job fails for good when its worker crashed twice, whatever the cause.
      maxStalledCount: 20,
      runRetryDelay: 1_000
    })
    logFailures(worker, name, log)
  })

  // BullMQ would wait for a connection that is down. That is unnecessary: the rows know what is done.
  async function closeWorker (opened: Worker<Correlation>) {
    const blocking = await opened.getBackend().blockingClient
    await opened.close(running.size > 0 || redis.status !== 'ready' || blocking?.status !== 'ready')
  }

  return {
    async close () {
      const logUnfinished = (error: unknown) =>
        log.warn({ err: error, queue: name }, 'jobs did not finish before the close')
      await worker?.pause(true)
      await withTimeout(closeTimeoutSeconds * 1_000, Promise.allSettled(running)).catch(logUnfinished)
      if (worker) await withTimeout(2_000, closeWorker(worker)).catch(logUnfinished)
      redis.disconnect()
    }
  }
}

function logFailures (worker: Worker<Correlation>, name: string, log: QueueOptions['log']) {
  worker.on('error', (error) => log.warn({ err: error, queue: name }, 'the worker had an error'))
  worker.on('failed', (job, error) => {
    attempts.inc({ queue: name, outcome: 'failed' })
    const { traceparent, ...ids } = job?.data ?? {}
    const details = { queue: name, job: job?.id, attempt: job?.attemptsMade, traceId: traceparent?.split('-')[1] }
    log.warn({ err: error, ...details, ...ids }, 'a job failed')
  })
}
