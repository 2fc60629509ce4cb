import { createQueue, type Job, type QueueOptions } from '@tandem/queue-kit'
import type { Log } from '@tandem/process-kit'
import type { DeliveryJob } from '../notifications/plan.ts'
import type { PushQueue } from '../notifications/push-queue.ts'
import type { FindPeople } from '../people/lookup.ts'
import type { Db } from '../tables.ts'
import type { Provider } from './provider.ts'
import { pushSources } from './backlog.ts'
import { listUnfinishedDeliveries } from './queries.ts'
import { createPushSender } from './sender.ts'

interface Options {
  db: Db
  findPeople: FindPeople
  provider: Provider
  redisUrl: string
  log: Log
  concurrency?: number
  lowPriorityConcurrency?: number
  /** How many pushes this process sends at once without Redis. */
  directConcurrency?: number
  /** The option of `createPushSender`, for tests. */
  retryDelayMs?: number
  /** Options of queue-kit, for tests. */
  prefix?: string
  sweepIntervalSeconds?: number
  sweepMinAgeSeconds?: number
}

/**
 * Creates two queues with workers of their own. In a single queue, a broadcast at a slow provider would occupy all
 * workers, and an urgent message would have to wait for one of them.
 */
export function createPushQueue (
  {
    db,
    findPeople,
    provider,
    redisUrl,
    log,
    concurrency = 128,
    lowPriorityConcurrency = 16,
    directConcurrency = 512,
    retryDelayMs,
    ...options
  }: Options
): PushQueue {
  const open = (
    name: string,
    lowPriority: boolean,
    workers: Pick<QueueOptions, 'concurrency' | 'directConcurrency'>
  ) => {
    const sender = createPushSender({
      db,
      findPeople,
      provider,
      log,
      ...retryDelayMs !== undefined && { retryDelayMs }
    })
    return createQueue({
      ...options,
      ...workers,
      name,
      redisUrl,
      log,
      work: sender.send,
      workOnClaimed: sender.sendClaimed,
      listPending: async (query) => await listUnfinishedDeliveries(db, { ...query, lowPriority })
    })
  }
  const highPriorityQueue = open('notification-pushes', false, { concurrency, directConcurrency })
  const lowPriorityQueue = open('notification-broadcasts', true, { concurrency: lowPriorityConcurrency })
  const source = { service: 'notification', db }
  pushSources.add(source)
  const toJob = ({ id, dueAt, correlation }: DeliveryJob): Job => ({
    id,
    delayMs: Math.max(0, dueAt.getTime() - Date.now()),
    ...correlation && { correlation }
  })

  return {
    async enqueue (jobs) {
      const { true: low = [], false: high = [] } = Object.groupBy(
        jobs,
        (job) => String(job.lowPriority) as 'true' | 'false'
      )
      await Promise.all([highPriorityQueue.enqueue(high.map(toJob)), lowPriorityQueue.enqueue(low.map(toJob))])
    },
    freeSlots: highPriorityQueue.freeSlots,
    sendClaimed: (jobs) => highPriorityQueue.workOnClaimed(jobs.map(toJob)),
    start () {
      highPriorityQueue.start()
      lowPriorityQueue.start()
    },
    async close () {
      await Promise.all([highPriorityQueue.close(), lowPriorityQueue.close()])
      await provider.close()
      pushSources.delete(source)
    },
    ping: async () => await highPriorityQueue.ping(),
    async lowPriorityDepth () {
      const { waiting, active } = await lowPriorityQueue.depth()
      return waiting + active
    }
  }
}
