import { Gauge } from 'prom-client'
import type { Log } from './logging.ts'
import { registry } from './metrics.ts'

/**
 * A dependency of the service. Without a `required` one the service is not ready; the others only mark it as degraded.
 */
export interface HealthCheck {
  check: () => Promise<unknown>
  required: boolean
}
export type HealthChecks = Record<string, HealthCheck>

const failingGauge = new Gauge({
  name: 'health_check_failing',
  help: 'Whether a dependency of the process is down',
  labelNames: ['check'],
  registers: [registry]
})

const TIMEOUT_MS = 1_000
const CACHE_TTL_MS = 1_000

async function isDown (check: () => Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, true)
  })
  try {
    return await Promise.race([check().then((result) => result === false), timeout])
  } catch {
    return true
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Creates a function that names the checks that fail. A check times out after a second and runs at most once a second.
 * The names of failing checks are also in a metric, and in the log when they change.
 */
export function createHealthProbe (checks: HealthChecks, log: Pick<Log, 'warn'>): () => Promise<string[]> {
  let checkedAt = 0
  let result: Promise<string[]> | undefined
  let lastReported = ''

  function report (down: string[]) {
    for (const name of Object.keys(checks)) failingGauge.set({ check: name }, down.includes(name) ? 1 : 0)
    if (lastReported !== down.join()) {
      log.warn({ down }, down.length > 0 ? 'health checks fail' : 'all health checks pass again')
    }
    lastReported = down.join()
    return down
  }

  return () => {
    if (!result || Date.now() - checkedAt > CACHE_TTL_MS) {
      checkedAt = Date.now()
      result = Promise.all(
        Object.entries(checks).map(async ([name, { check }]) => await isDown(async () => await check()) ? [name] : [])
      )
        .then((names) => report(names.flat()))
    }
    return result
  }
}
