import pLimit, { type LimitFunction } from 'p-limit'

interface Options {
  /** How many calls of a key can wait; by default all. */
  maxWaiting?: number
  /** The error of a call that finds so many waiting. */
  createError?: () => Error
}

/** Runs work of one key sequentially, in the order of the calls, and work of different keys in parallel. */
export function serializeByKey (
  { maxWaiting = Infinity, createError = () => new Error('too many calls wait') }: Options = {}
) {
  const limits = new Map<string, LimitFunction>()

  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const limit = limits.get(key) ?? pLimit(1)
    if (limit.activeCount + limit.pendingCount > maxWaiting) throw createError()
    limits.set(key, limit)
    try {
      return await limit(work)
    } finally {
      const isIdle = limit.activeCount + limit.pendingCount === 0
      // Another call may have replaced one that was idle.
      if (isIdle && limits.get(key) === limit) limits.delete(key)
    }
  }
}
