const span = 10
const enough = 20
const tooMany = 0.5
const openFor = 2_000

interface Second { at: number, answered: number, failed: number }

/**
 * Stops asking who does not answer: open for 2 s once at least half of 20 or more requests of the last 10 s have failed. Then one
 * request is let through, and its outcome decides.
 */
export interface Breaker {
  /** Whether to ask at all. Who is let through says afterwards how it went, by one of the three below. */
  allowRequest (): boolean
  answered (): void
  failed (): void
  /** It went neither well nor badly, as when the client left. */
  ignored (): void
  isOpen (): boolean
}

export function createBreaker (onChange: (open: boolean) => void, now = Date.now): Breaker {
  const seconds: Second[] = Array.from({ length: span }, () => ({ at: 0, answered: 0, failed: 0 }))
  let openUntil = 0
  let open = false
  let probing = false

  function current (): Second {
    const at = Math.floor(now() / 1_000)
    const second = seconds[at % span] as Second
    if (second.at !== at) Object.assign(second, { at, answered: 0, failed: 0 })
    return second
  }

  function trip () {
    openUntil = now() + openFor
    probing = false
    if (open) return
    open = true
    onChange(true)
  }

  function reopen () {
    open = false
    probing = false
    for (const second of seconds) second.at = 0
    onChange(false)
  }

  return {
    allowRequest () {
      if (!open) return true
      if (probing || now() < openUntil) return false
      probing = true
      return true
    },
    answered () {
      if (open) return probing ? reopen() : undefined
      current().answered++
    },
    failed () {
      if (open) return probing ? trip() : undefined
      const second = current()
      second.failed++
      const recent = seconds.filter(({ at }) => at > second.at - span)
      const failed = recent.reduce((sum, each) => sum + each.failed, 0)
      const all = recent.reduce((sum, each) => sum + each.answered + each.failed, 0)
      if (all >= enough && failed >= all * tooMany) trip()
    },
    ignored () {
      probing = false
    },
    isOpen: () => open
  }
}
