import { TooManyImages } from './errors.ts'

export interface FairQueueLimits { concurrency: number, maxWaiting: number, maxWaitingPerAccount: number }

/**
 * Runs work for accounts, one piece of each account at a time and the accounts in turn: an account with much to do waits for itself, and
 * never takes more than one of the places.
 * @returns what runs a piece of work. It throws TooManyImages when the account, or all together, have too much waiting.
 */
export function createFairQueue ({ concurrency, maxWaiting, maxWaitingPerAccount }: FairQueueLimits) {
  // In the order of their turns. An account without waiting work is not in it.
  const queues = new Map<string, (() => void)[]>()
  const running = new Set<string>()
  let waiting = 0

  function startNext () {
    if (running.size >= concurrency) return
    for (const [accountId, queue] of queues) {
      if (running.has(accountId)) continue
      const start = queue.shift()
      queues.delete(accountId)
      if (queue.length > 0) queues.set(accountId, queue)
      waiting--
      running.add(accountId)
      return start?.()
    }
  }

  return async function run<T> (accountId: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(accountId) ?? []
    if (waiting >= maxWaiting || queue.length >= maxWaitingPerAccount) throw new TooManyImages()
    await new Promise<void>((resolve) => {
      queue.push(resolve)
      queues.set(accountId, queue)
      waiting++
      startNext()
    })
    try {
      return await work()
    } finally {
      running.delete(accountId)
      startNext()
    }
  }
}
