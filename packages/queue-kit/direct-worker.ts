import { SpanKind } from '@opentelemetry/api'
import { continueCorrelation, currentCorrelation } from '@tandem/process-kit'
import { attempts } from './metrics.ts'
import { withTimeout } from './redis.ts'
import type { Job, Log, Outcome } from './types.ts'

interface DirectWorkerOptions {
  name: string
  log: Log
  work(id: string): Promise<Outcome>
  concurrency: number
  closeTimeoutSeconds: number
  /** Adds a job to Redis. It never throws. */
  enqueue(job: Job): Promise<void>
}

/**
 * Works on rows that this process has claimed, without Redis, which costs more than a short job itself. Nothing here
 * outlives the process: once its lease expires, a row belongs to the sweep.
 */
export function createDirectWorker (options: DirectWorkerOptions) {
  const { name, log, work, concurrency, closeTimeoutSeconds, enqueue } = options
  const running = new Set<Promise<void>>()
  let isOpen = false

  async function run (job: Job) {
    const { id, correlation = currentCorrelation() } = typeof job === 'string' ? { id: job } : job
    try {
      const outcome = await continueCorrelation(
        correlation,
        `work on ${name}`,
        SpanKind.CONSUMER,
        async () => await work(id)
      )
      attempts.inc({ queue: name, outcome: outcome ? 'delayed' : 'done' })
      if (outcome) await enqueue({ id, correlation, delayMs: outcome.retryAfterMs })
    } catch (error) {
      attempts.inc({ queue: name, outcome: 'failed' })
      log.warn({ err: error, queue: name, job: id, ...correlation }, 'a job failed without Redis and is enqueued')
      await enqueue({ id, correlation })
    }
  }

  return {
    freeSlots: () => isOpen ? Math.max(0, concurrency - running.size) : 0,
    start (jobs: Job[]) {
      for (const job of jobs) {
        const working = run(job).finally(() => running.delete(working))
        running.add(working)
      }
    },
    open () {
      isOpen = true
    },
    async close () {
      isOpen = false
      await withTimeout(closeTimeoutSeconds * 1_000, Promise.allSettled(running)).catch((error: unknown) =>
        log.warn({ err: error, queue: name }, 'jobs without Redis did not finish before the close')
      )
    }
  }
}
