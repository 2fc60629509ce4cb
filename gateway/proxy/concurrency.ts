import { Unavailable } from '@tandem/process-kit'

export interface ConcurrencyLimits {
  concurrency: number
  maxQueued: number
  maxWaitMs: number
}

/**
 * Limits how many requests of one account run at once; the rest wait in its queue. Other accounts are not affected.
 * @returns a function that waits for a slot of the account and returns the function that releases it. It throws
 * Unavailable if the account's queue is full, or after `maxWaitMs`
 */
export function createConcurrencyLimiter ({ concurrency, maxQueued, maxWaitMs }: ConcurrencyLimits) {
  const accounts = new Map<string, { running: number, waiting: Set<() => void> }>()

  return async function acquire (accountId: string): Promise<() => void> {
    const account = accounts.get(accountId) ?? { running: 0, waiting: new Set() }
    accounts.set(accountId, account)

    function release () {
      const [next] = account.waiting
      if (next) return next()
      account.running--
      if (account.running === 0) accounts.delete(accountId)
    }

    if (account.running < concurrency) {
      account.running++
      return release
    }
    if (account.waiting.size >= maxQueued) throw new Unavailable()
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        account.waiting.delete(start)
        reject(new Unavailable())
      }, maxWaitMs)
      function start () {
        clearTimeout(timer)
        account.waiting.delete(start)
        resolve(release)
      }
      account.waiting.add(start)
    })
  }
}
