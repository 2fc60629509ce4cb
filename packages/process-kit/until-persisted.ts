import { setTimeout as sleep } from 'node:timers/promises'

const RETRY_MS = 250

/**
 * Writes what came of work that must not be done again, four times a second until Postgres takes it.
 * @param deadlineMs milliseconds since 1970 @throws the error of the first failure after it
 */
export async function untilPersisted (write: () => Promise<unknown>, deadlineMs: number) {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
      await sleep(RETRY_MS)
    }
  }
}
