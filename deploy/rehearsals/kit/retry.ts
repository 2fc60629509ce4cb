import { setTimeout as sleep } from 'node:timers/promises'
import { RequestFailed } from './call.ts'

const GIVE_UP_AFTER_MS = 5 * 60_000
const PAUSE_MS = 1_000

/**
 * Repeats a request as long as the system is too busy for it: many people at once are much for a small
 * machine, and a process may have been killed.
 * @param work gets the number of the attempt. What an earlier attempt asked for can have happened, though its response
 * was lost
 */
export async function retry<Result> (work: (attempt: number) => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + GIVE_UP_AFTER_MS
  for (let attempt = 1;; attempt++) {
    try {
      return await work(attempt)
    } catch (error) {
      if (!(error instanceof RequestFailed) || error.status !== 503 || Date.now() > deadline) throw error
      await sleep(error.retryAfterMs ?? PAUSE_MS)
    }
  }
}
