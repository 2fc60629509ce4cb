import { Queue as Bull } from 'bullmq'
import { currentCorrelation } from '@tandem/process-kit'
import type { Redis } from 'ioredis'
import type { Job } from './types.ts'

const WEEK_IN_SECONDS = 7 * 24 * 60 * 60

const retries = { attempts: 8, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } }
const retention = { removeOnComplete: true, removeOnFail: { age: WEEK_IN_SECONDS, count: 10_000 } }

/** Adds jobs to a queue in Redis. Every function throws while Redis is unavailable. */
export function createProducer ({ name, prefix, redis }: { name: string, prefix: string, redis: Redis }) {
  let producer: Bull | undefined

  async function open () {
    // BullMQ would wait for Redis forever.
    if (redis.status !== 'ready') throw new Error('Redis is unavailable')
    if (!producer) {
      producer = new Bull(name, { connection: redis, prefix, streams: { events: { maxLen: 100 } } })
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

  return {
    async add (jobs: Job[]) {
      if (jobs.length === 0) return
      const opened = await open()
      await opened.addBulk(jobs.map((job) => toBullJob(name, job)))
    },

    /** Redis keeps a failed job for a week, and until then ignores another job with its id. */
    async removeFailed (jobs: Job[]) {
      if (jobs.length === 0) return
      const opened = await open()
      const ids = jobs.map((job) => typeof job === 'string' ? job : job.id)
      const scores = await redis.zmscore(opened.toKey('failed'), ...ids)
      await Promise.all(ids.filter((_, index) => scores[index] !== null).map((id) => opened.remove(id)))
    },

    async depth () {
      const opened = await open()
      const counts = await opened.getJobCounts('wait', 'active', 'delayed', 'failed')
      const { wait: waiting = 0, active = 0, delayed = 0, failed = 0 } = counts
      return { waiting, active, delayed, failed }
    },

    async close () {
      await producer?.close().catch(() => {})
    }
  }
}

function toBullJob (name: string, job: Job) {
  const { id, delayMs, correlation = currentCorrelation() }: Exclude<Job, string> = typeof job === 'string'
    ? { id: job }
    : job
  return {
    name,
    data: correlation,
    opts: {
      ...retries,
      ...retention,
      jobId: id,
      ...(delayMs && { delay: delayMs })
    }
  }
}
