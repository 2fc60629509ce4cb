import { randomInt } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Processes that start together must not all stop at the same moment.
const MIN_PERIOD_MS = 10_000
const MAX_PERIOD_MS = 30_000
const QUIET_SHARE = 0.05

type CollectGarbage = (options: { type: 'major', execution: 'sync', flavor: 'last-resort' }) => void

/**
 * Gives the memory that the start of a process used back to the system, once, at the end of the first `periodMs` in which
 * the process takes less than 5 % of a core. Garbage collection stops the process for about a quarter of a second,
 * which a process under load would notice.
 * @returns a function that cancels it
 */
export function trimMemoryWhenQuiet (periodMs = randomInt(MIN_PERIOD_MS, MAX_PERIOD_MS)) {
  let used = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    if (user + system > periodMs * 1_000 * QUIET_SHARE) return
    clearInterval(timer)
    collectGarbage()
  }, periodMs)
  timer.unref()
  return () => clearInterval(timer)
}

// The option of the command line would have to be set wherever a process is started. Only this flavor also frees the
// pages that V8 keeps for itself.
function collectGarbage () {
  setFlagsFromString('--expose-gc')
  // It is in the global object of contexts that are created from now on.
  const collect = runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
