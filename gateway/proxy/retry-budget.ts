const DEPOSIT_PER_REQUEST = 0.1
const MAX_BALANCE = 10

/**
 * Allows ten retries, and then one per ten requests: enough for broken connections, also just after the start, and too
 * few to double the load on a failing service.
 */
export interface RetryBudget {
  deposit(): void
  tryWithdraw(): boolean
}

export function createRetryBudget (): RetryBudget {
  let balance = MAX_BALANCE
  return {
    deposit () {
      balance = Math.min(MAX_BALANCE, balance + DEPOSIT_PER_REQUEST)
    },
    tryWithdraw () {
      if (balance < 1) return false
      balance--
      return true
    }
  }
}
