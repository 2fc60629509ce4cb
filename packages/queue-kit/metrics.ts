import { Counter, Gauge } from 'prom-client'
import type { Queue } from './types.ts'

/** The queues of this process by name, for as long as they are open. */
export const queues = new Map<string, Pick<Queue, 'depth'>>()

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
