import { createQueue, type Job } from '@tandem/queue-kit'
import type { Log } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { createDelivery } from './actions.ts'
import type { Provider } from './provider.ts'
import type { Pushes, Waiting } from './pushes.ts'
import { listWaiting } from './queries.ts'

interface Options extends Pick<Deps, 'db' | 'findPeople'> {
  provider: Provider
  redisUrl: string
  log: Log
  concurrency?: number
  lowConcurrency?: number
  /** As `createDelivery`'s, for tests. */
  pause?: number
  /** As queue-kit's, for tests. */
  prefix?: string
  sweepIntervalSeconds?: number
  sweepMinAgeSeconds?: number
}

/**
 * Two queues with workers of their own: were they one, a broadcast at a slow provider would hold all places,
 * and a message would wait for one of them to end however urgent it is.
 */
export function createPushes ({ db, findPeople, provider, redisUrl, log, concurrency = 32, lowConcurrency = 16, pause, ...options }: Options): Pushes {
  const open = (name: string, low: boolean, places: number) => createQueue({
    ...options,
    name,
    redisUrl,
    log,
    concurrency: places,
    work: createDelivery({ db, findPeople, provider, ...pause !== undefined && { pause } }),
    listPending: async (wanted) => await listWaiting(db, { ...wanted, low })
  })
  const high = open('notification-pushes', false, concurrency)
  const low = open('notification-broadcasts', true, lowConcurrency)
  const jobsOf = (deliveries: Waiting[]): Job[] => deliveries.map(({ id, dueAt }) => ({ id, delay: Math.max(0, dueAt.getTime() - Date.now()) }))

  return {
    async offer (deliveries) {
      const { true: later = [], false: soon = [] } = Object.groupBy(deliveries, (each) => String(each.low) as 'true' | 'false')
      await Promise.all([high.enqueue(jobsOf(soon)), low.enqueue(jobsOf(later))])
    },
    start () {
      high.start()
      low.start()
    },
    async close () {
      await Promise.all([high.close(), low.close()])
      await provider.close()
    },
    ready: async () => await high.ping(),
    async lowDepth () {
      const { waiting, active } = await low.depth()
      return waiting + active
    }
  }
}
