import { RateLimited } from './errors.ts'

/**
 * Lets the work of one key be done one after the other, that of others beside it. Within this process it saves connections: work that
 * would wait in Postgres for the same row waits here, without one.
 * @param maxWaiting how many may wait for their turn under one key; what comes beside them throws RateLimited
 */
export function serializeByAccount ({ maxWaiting = Infinity } = {}) {
  const queues = new Map<string, { tail: Promise<unknown>, length: number }>()
  return async <Result> (key: string, work: () => Promise<Result>): Promise<Result> => {
    const { tail, length } = queues.get(key) ?? { tail: Promise.resolve(), length: 0 }
    if (length > maxWaiting) throw new RateLimited()
    const turn = tail.then(work, work)
    queues.set(key, { tail: turn, length: length + 1 })
    try {
      return await turn
    } finally {
      const queue = queues.get(key)
      if (queue && queue.length > 1) queue.length--
      else queues.delete(key)
    }
  }
}
