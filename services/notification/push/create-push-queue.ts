import { createQueue, type Job, type QueueTestOptions } from '@tandem/queue-kit'
import type { DeliveryJob } from '../notifications/plan.ts'
import type { PushQueue } from '../notifications/push-queue.ts'
import { pushSources } from './backlog.ts'
import { listUnfinishedDeliveries } from './queries.ts'
import { createPushSender, type PushSenderOptions } from './sender.ts'

// Of a process that died between its commit and Redis, pushes are found 30 to 45 s later.
const SWEEP_MIN_AGE_SECONDS = 30
const LOW_PRIORITY_CONCURRENCY = 16

interface Options extends PushSenderOptions, QueueTestOptions {
  redisUrl: string
  concurrency?: number
}

/**
 * Creates two queues with workers of their own. In a single queue, a broadcast at a slow provider would occupy all
 * workers, and an urgent message would have to wait for one of them.
 */
export function createPushQueue ({ concurrency = 128, ...options }: Options): PushQueue {
  const { db, provider } = options
  const send = createPushSender(options)
  const open = (name: string, lowPriority: boolean, workers: number) =>
    createQueue({
      sweepMinAgeSeconds: SWEEP_MIN_AGE_SECONDS,
      ...options,
      name,
      concurrency: workers,
      work: send,
      listPending: async (query) => await listUnfinishedDeliveries(db, { ...query, lowPriority })
    })
  const highPriorityQueue = open('notification-pushes', false, concurrency)
  const lowPriorityQueue = open('notification-broadcasts', true, LOW_PRIORITY_CONCURRENCY)
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
