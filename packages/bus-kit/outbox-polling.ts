// Only events whose process died between their commit and their publication wait this long, and those of an operator's
// command, which runs no relay. Every other event is announced in the process that wrote it, so that an idle service
// does not look for it many times a second.
const IDLE_POLL_MS = 5_000
// The relay cannot see when the transaction that wrote an event commits, so it polls often at first, then less often.
const ACTIVE_POLLING_MS = 1_000
const MIN_POLL_MS = 2
const MAX_ACTIVE_POLL_MS = 16

/**
 * Decides when the relay polls the outbox next, from what this process wrote and what the relay has published. Times
 * are milliseconds.
 */
export function createOutboxPolling () {
  let expectedEvents = 0
  let hasOtherWriters = false
  let lastWriteAt = 0

  return {
    /** Counts an event that this process wrote. Its transaction may not have committed yet. */
    expect (now: number) {
      expectedEvents++
      lastWriteAt = now
    },
    /** Counts the events of a batch. More than expected means that another process writes too. */
    published (count: number, now: number) {
      if (count > expectedEvents) {
        hasOtherWriters = true
        lastWriteAt = now
      }
      expectedEvents = Math.max(0, expectedEvents - count)
    },
    /** The pause before the next poll. A pause that `isIdle` ends when this process writes an event. */
    nextPause (now: number): { pauseMs: number, isIdle: boolean } {
      const sinceWriteMs = now - lastWriteAt
      if (expectedEvents === 0 && !hasOtherWriters) return { pauseMs: IDLE_POLL_MS, isIdle: true }
      if (sinceWriteMs <= ACTIVE_POLLING_MS) {
        return { pauseMs: Math.min(Math.max(sinceWriteMs / 4, MIN_POLL_MS), MAX_ACTIVE_POLL_MS), isIdle: false }
      }
      hasOtherWriters = false
      if (expectedEvents === 0) return { pauseMs: IDLE_POLL_MS, isIdle: true }
      // Either the transaction was rolled back, or it takes long. An event of a long one waits a quarter of the time
      // that its transaction took.
      const pauseMs = Math.min(sinceWriteMs / 4, IDLE_POLL_MS)
      if (pauseMs === IDLE_POLL_MS) expectedEvents = 0
      return { pauseMs, isIdle: true }
    }
  }
}
