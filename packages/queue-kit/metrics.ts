import { Counter, Gauge } from 'prom-client'
import type { Queue } from './types.ts'

/** The queues of this process by name, for as long as they are open. */
export const queues = new Map<string, Pick<Queue, 'depth'>>()

new Gauge({
  name: 'queue_jobs', help: 'Jobs that Redis holds', labelNames: ['queue', 'state'] as const,
  async collect () {
    this.reset()
    await Promise.all([...queues].map(async ([queue, { depth }]) => {
      // While Redis is away there is nothing to show.
      const states = await depth().catch(() => ({}))
      for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
    }))
  }
})

export const tries = new Counter({
  name: 'queue_tries_total', help: 'Tries to do a job: done, put off, or failed', labelNames: ['queue', 'outcome'] as const
})
