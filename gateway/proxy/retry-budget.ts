const earned = 0.1
const most = 10

/** Second tries for one in ten requests: enough for a mishap, too few to double the load on a service that is failing. */
export interface Budget {
  earn (): void
  spend (): boolean
}

export function createBudget (): Budget {
  let saved = 0
  return {
    earn () {
      saved = Math.min(most, saved + earned)
    },
    spend () {
      if (saved < 1) return false
      saved--
      return true
    }
  }
}
