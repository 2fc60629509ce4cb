import { RateLimited } from './errors.ts'

/**
 * Runs the work of one account sequentially and the work of different accounts in parallel, within this process. It
 * saves database connections: work that would wait in Postgres for the same row waits here, without a connection.
 * @param maxWaiting how many calls of an account may wait; a further call throws RateLimited
 */
export function serializeByAccount ({ maxWaiting = Infinity } = {}) {
  const queues = new Map<string, { tail: Promise<unknown>, length: number }>()
  return async <Result>(accountId: string, work: () => Promise<Result>): Promise<Result> => {
    const { tail, length } = queues.get(accountId) ?? { tail: Promise.resolve(), length: 0 }
    if (length > maxWaiting) throw new RateLimited()
    const result = tail.then(work, work)
    queues.set(accountId, { tail: result, length: length + 1 })
    try {
      return await result
    } finally {
      const queue = queues.get(accountId)
      if (queue && queue.length > 1) queue.length--
      else queues.delete(accountId)
    }
  }
}
