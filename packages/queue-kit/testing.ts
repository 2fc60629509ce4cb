import type { Job, Queue } from './types.ts'

/** A queue for tests that only asks whether something was offered: it keeps the ids and works on none. */
export function idleQueue (): Queue & { offered: string[] } {
  const offered: string[] = []
  return {
    offered,
    async offer (jobs: Job[]) { offered.push(...jobs.map((job) => typeof job === 'string' ? job : job.id)) },
    start () {},
    async close () {},
    async ready () {},
    async depth () { return { waiting: offered.length, active: 0, delayed: 0, failed: 0 } }
  }
}
