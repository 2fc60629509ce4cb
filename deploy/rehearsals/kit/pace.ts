import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Starts work at a rate, whether or not earlier work has ended.
 * @param start gets its turn, and when it was due by `performance.now()`
 * @returns the results, once all work has ended
 */
export async function pace<Result> (
  { count, perSecond }: { count: number, perSecond: number },
  start: (turn: number, dueAt: number) => Promise<Result>
): Promise<Result[]> {
  const since = performance.now()
  const started: Promise<Result>[] = []
  for (let turn = 0; turn < count; turn++) {
    const dueAt = since + turn / perSecond * 1_000
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    started.push(start(turn, dueAt))
  }
  return await Promise.all(started)
}
