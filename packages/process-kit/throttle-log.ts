import { setBounded } from './set-bounded.ts'

const REPEAT_AFTER_MS = 60_000
const MAX_KINDS = 50
// Random ids that NATS generates for every inbox.
const RANDOM_ID = /\b[A-Z0-9]{22}\b/g

/**
 * Logs a new error at once and a repeated one once a minute, so that a loop that fails twice a second does not flood
 * the log.
 */
export function throttleLog (log: (error: unknown) => void) {
  const loggedAt = new Map<string, number>()
  return (error: unknown) => {
    const kind = String(error).replace(RANDOM_ID, '')
    if (Date.now() - (loggedAt.get(kind) ?? 0) < REPEAT_AFTER_MS) return
    setBounded(loggedAt, kind, Date.now(), MAX_KINDS)
    log(error)
  }
}
