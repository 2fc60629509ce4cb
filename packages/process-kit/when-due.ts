import { createAlarm } from './alarm.ts'
import type { Log } from './logging.ts'

// After a failure, and when something due is left, because another process has locked it.
const RETRY_INTERVAL_MS = 1_000

interface WhenDueOptions {
  /** When something is due next, if anything is planned. */
  findNext: () => Promise<Date | null | undefined>
  /** A row that another process plans for sooner than this can be late by as much. */
  maxIntervalMs: number
  now?: () => Date
  log: Log
}

/**
 * Runs `work` whenever something is due, now and from then on. It sleeps until the next time that is planned, at most
 * `maxIntervalMs`, so that an idle process does not look every second for what is due tomorrow. A failure is logged and
 * retried a second later. Runs never overlap.
 */
export function runWhenDue (
  work: () => Promise<unknown>,
  { findNext, maxIntervalMs, now = () => new Date(), log }: WhenDueOptions
) {
  const stopping = new AbortController()
  const alarm = createAlarm()

  async function findPauseMs () {
    const next = await findNext()
    return next ? Math.min(next.getTime() - now().getTime(), maxIntervalMs) : maxIntervalMs
  }

  async function runDue () {
    const pauseMs = await findPauseMs()
    if (pauseMs > 0) return pauseMs
    await work()
    const nextPauseMs = await findPauseMs()
    return nextPauseMs > 0 ? nextPauseMs : RETRY_INTERVAL_MS
  }

  const running = (async () => {
    while (!stopping.signal.aborted) {
      const pauseMs = await runDue().catch((error: unknown) => {
        log.warn({ err: error }, 'work that is due failed; it runs again in a second')
        return RETRY_INTERVAL_MS
      })
      await alarm.wait(pauseMs, stopping.signal)
    }
  })()
  return {
    /** Looks at once for what is due, or once more if it is running. */
    ring: alarm.ring,
    async stop () {
      stopping.abort()
      await running
    }
  }
}
