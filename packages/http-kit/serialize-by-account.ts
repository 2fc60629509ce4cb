import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimited } from './errors.ts'

interface Options {
  /** How many calls of an account may wait; a further call throws RateLimited. */
  maxWaiting?: number
  /** The part of the time that the work of one account may take: at 0.25, the next work starts 30 ms after 10 ms of it. */
  maxShare?: number
}

/**
 * Runs the work of one account sequentially and the work of different accounts in parallel, within this process. It
 * saves database connections: work that would wait in Postgres for the same row waits here, without a connection.
 */
export function serializeByAccount ({ maxWaiting = Infinity, maxShare = 1 }: Options = {}) {
  const queues = new Map<string, { tail: Promise<unknown>, length: number }>()

  /** Runs `work`. @returns its result, and the promise that the next work may start */
  function run<Result> (tail: Promise<unknown>, work: () => Promise<Result>) {
    let startedAt = 0
    const result = tail.then(async () => {
      startedAt = performance.now()
      return await work()
    })
    const pause = async () => {
      const pauseMs = (performance.now() - startedAt) * (1 / maxShare - 1)
      if (pauseMs > 0) await sleep(pauseMs)
    }
    return { result, next: result.then(pause, pause) }
  }

  return async <Result>(accountId: string, work: () => Promise<Result>): Promise<Result> => {
    const queue = queues.get(accountId) ?? { tail: Promise.resolve(), length: 0 }
    if (queue.length > maxWaiting) throw new RateLimited()
    const { result, next } = run(queue.tail, work)
    queue.tail = next
    queue.length++
    queues.set(accountId, queue)
    void next.then(() => {
      if (queue.tail === next) queues.delete(accountId)
    })
    try {
      return await result
    } finally {
      queue.length--
    }
  }
}
