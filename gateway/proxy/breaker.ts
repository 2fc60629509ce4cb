const WINDOW_SECONDS = 10
const MIN_REQUESTS = 20
const FAILURE_RATIO = 0.8
const OPEN_MS = 2_000

interface Second {
  at: number
  succeeded: number
  failed: number
}

/**
 * Stops requests to an upstream that fails: opens for 2 s once at least four fifths of 20 or more requests of the last
 * 10 s have failed: of a busy upstream, or one with a dead replica, what it still serves is worth the wait for the rest.
 * Then one request goes through as a probe, and its outcome closes or reopens the breaker.
 */
export interface Breaker {
  /**
   * Whether a request can be sent. The caller must report the outcome of an allowed request with one of the next three
   * functions.
   */
  allowRequest(): boolean
  /** It responded, also if only to refuse: a refusal by an overloaded upstream must not grow into an outage. */
  succeeded(): void
  failed(): void
  /** Neither success nor failure, for example because the client disconnected. */
  ignored(): void
  isOpen(): boolean
}

export function createBreaker (onChange: (open: boolean) => void, now = Date.now): Breaker {
  const seconds: Second[] = Array.from({ length: WINDOW_SECONDS }, () => ({ at: 0, succeeded: 0, failed: 0 }))
  let openUntil = 0
  let isOpen = false
  let isProbing = false

  function current (): Second {
    const at = Math.floor(now() / 1_000)
    const second = seconds[at % WINDOW_SECONDS] as Second
    if (second.at !== at) Object.assign(second, { at, succeeded: 0, failed: 0 })
    return second
  }

  function trip () {
    openUntil = now() + OPEN_MS
    isProbing = false
    if (isOpen) return
    isOpen = true
    onChange(true)
  }

  function reset () {
    isOpen = false
    isProbing = false
    for (const second of seconds) second.at = 0
    onChange(false)
  }

  return {
    allowRequest () {
      if (!isOpen) return true
      if (isProbing || now() < openUntil) return false
      isProbing = true
      return true
    },
    succeeded () {
      if (isOpen) return isProbing ? reset() : undefined
      current().succeeded++
    },
    failed () {
      if (isOpen) return isProbing ? trip() : undefined
      const second = current()
      second.failed++
      const recent = seconds.filter(({ at }) => at > second.at - WINDOW_SECONDS)
      const failed = recent.reduce((sum, each) => sum + each.failed, 0)
      const all = recent.reduce((sum, each) => sum + each.succeeded + each.failed, 0)
      if (all >= MIN_REQUESTS && failed >= all * FAILURE_RATIO) trip()
    },
    ignored () {
      isProbing = false
    },
    isOpen: () => isOpen
  }
}
