import { TooManyImages } from './errors.ts'

export interface FairQueueLimits {
  concurrency: number
  maxWaiting: number
  maxWaitingPerAccount: number
}

/**
 * Creates a fair queue: it runs one job per account at a time and schedules the accounts round-robin. So an account
 * with many jobs waits for itself and never takes more than one slot.
 * @returns a function that runs a job. It throws TooManyImages if too many jobs of the account, or of all accounts, are
 * waiting.
 */
export function createFairQueue ({ concurrency, maxWaiting, maxWaitingPerAccount }: FairQueueLimits) {
  // In round-robin order. Accounts without waiting jobs are not in the map.
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
