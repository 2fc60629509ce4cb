import { Counter, Gauge } from 'prom-client'
import type { Queue } from './types.ts'

/** The queues of this process by name, for as long as they are open. */
export const queues = new Map<string, Pick<Queue, 'depth'>>()

/** Redis as each queue sees it: its memory in bytes. `limit` is 0 if it has none. */
export const memoryReaders = new Set<() => Promise<{ used: number, limit: number }>>()

createMemoryGauge('redis_used_bytes', 'Memory that Redis uses', ({ used }) => used)
createMemoryGauge('redis_limit_bytes', 'The maxmemory of Redis; 0 without a limit', ({ limit }) => limit)

function createMemoryGauge (
  name: string,
  help: string,
  valueOf: (memory: { used: number, limit: number }) => number
) {
  return new Gauge({
    name,
    help,
    async collect () {
      this.reset()
      const [read] = memoryReaders
      // There is no value while Redis is unavailable.
      const memory = await read?.().catch(() => undefined)
      if (memory) this.set(valueOf(memory))
      else this.remove()
    }
  })
}

new Gauge({
  name: 'queue_jobs',
  help: 'Jobs that Redis holds',
  labelNames: ['queue', 'state'] as const,
  async collect () {
    this.reset()
    await Promise.all([...queues].map(async ([queue, { depth }]) => {
      // There is no value while Redis is unavailable.
      const states = await depth().catch(() => ({}))
      for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
    }))
  }
})

export const attempts = new Counter({
  name: 'queue_tries_total',
  help: 'Attempts of jobs: done, delayed or failed',
  labelNames: ['queue', 'outcome'] as const
})

/** Starts the counter at 0: a rate in Prometheus misses the first count of a new series. */
export function initializeAttempts (queue: string) {
  for (const outcome of ['done', 'delayed', 'failed']) attempts.inc({ queue, outcome }, 0)
}
