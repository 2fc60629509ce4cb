import { ServiceUnavailable } from '@tandem/service-kit'

export interface TurnLimits { concurrency: number, maxWaiting: number, maxWaitMs: number }

/**
 * Lets each account do so much at once and has the rest of its requests wait. Other accounts notice nothing of it.
 * @returns what waits for a turn of an account; it returns what ends the turn, and throws ServiceUnavailable when too many of the
 * account's requests wait, or one for too long
 */
export function createTurns ({ concurrency, maxWaiting, maxWaitMs }: TurnLimits) {
  const accounts = new Map<string, { running: number, waiting: Set<() => void> }>()

  return async function takeTurn (accountId: string): Promise<() => void> {
    const account = accounts.get(accountId) ?? { running: 0, waiting: new Set() }
    accounts.set(accountId, account)

    function endTurn () {
      const [next] = account.waiting
      if (next) return next()
      account.running--
      if (account.running === 0) accounts.delete(accountId)
    }

    if (account.running < concurrency) {
      account.running++
      return endTurn
    }
    if (account.waiting.size >= maxWaiting) throw new ServiceUnavailable()
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        account.waiting.delete(start)
        reject(new ServiceUnavailable())
      }, maxWaitMs)
      function start () {
        clearTimeout(timer)
        account.waiting.delete(start)
        resolve(endTurn)
      }
      account.waiting.add(start)
    })
  }
}
