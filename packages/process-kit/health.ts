import { Gauge } from 'prom-client'
import type { Log } from './logging.ts'
import { registry } from './metrics.ts'
import { withTimeout } from './with-timeout.ts'

/**
 * A dependency of the service. Without a `required` one the service is not ready; the others only mark it as degraded.
 * The check fails if it throws, returns false, or takes longer than a second. If it returns names, those parts of the
 * dependency fail, and it is up itself.
 */
interface HealthCheck {
  check: () => Promise<unknown>
  required: boolean
}
export type HealthChecks = Record<string, HealthCheck>

/** Fails a check with a reason for operators. It must contain no personal data. */
export class Degraded extends Error {}

export interface HealthReport {
  /** The names of the failing checks. */
  down: string[]
  /** The reasons of those that failed with `Degraded`. */
  reasons: Record<string, string>
}

export interface HealthProbe {
  find: () => Promise<HealthReport>
  /** Excludes the checks from the metric. */
  close: () => void
}

const TIMEOUT_MS = 1_000
const CACHE_TTL_MS = 1_000
// While a required check fails, so that a process that starts is found ready when it is.
const NOT_READY_TTL_MS = 100

const probes = new Map<HealthProbe, HealthChecks>()

new Gauge({
  name: 'health_check_failing',
  help: 'Whether a dependency of the process is down',
  labelNames: ['check'],
  registers: [registry],
  // The checks run here too, because in some deployments nobody else requests /health/ready.
  async collect () {
    this.reset()
    const reports = await Promise.all([...probes].map(async ([probe, checks]) => ({ checks, ...await probe.find() })))
    for (const { checks, down } of reports) {
      for (const check of new Set([...Object.keys(checks), ...down])) this.set({ check }, down.includes(check) ? 1 : 0)
    }
  }
})

async function findFailures (name: string, check: () => Promise<unknown>): Promise<[name: string, reason?: string][]> {
  try {
    const result = await withTimeout(TIMEOUT_MS, check())
    if (Array.isArray(result)) return result.map((part) => [`${name}.${String(part)}`])
    return result === false ? [[name]] : []
  } catch (error) {
    return [error instanceof Degraded ? [name, error.message] : [name]]
  }
}

/**
 * Creates a probe that names the checks that fail. A check times out after a second and runs at most once a second, ten
 * times a second while a required one fails. The names of failing checks are also in a metric, and in the log when they
 * change.
 */
export function createHealthProbe (checks: HealthChecks, log: Pick<Log, 'warn'>): HealthProbe {
  let expiresAt = 0
  let result: Promise<HealthReport> | undefined
  let lastReported = ''

  function report (failures: [name: string, reason?: string][]) {
    const down = failures.map(([name]) => name)
    const reasons = Object.fromEntries(failures.flatMap(([name, reason]) => reason ? [[name, reason]] : []))
    if (lastReported !== down.join()) {
      log.warn({ down, reasons }, down.length > 0 ? 'health checks fail' : 'all health checks pass again')
    }
    lastReported = down.join()
    return { down, reasons }
  }

  async function runAll () {
    const failures = Object.entries(checks).map(async ([name, { check }]) =>
      await findFailures(name, async () => await check())
    )
    const found = report((await Promise.all(failures)).flat())
    if (found.down.some((name) => checks[name]?.required)) expiresAt = Date.now() + NOT_READY_TTL_MS
    return found
  }

  const probe: HealthProbe = {
    async find () {
      if (!result || Date.now() > expiresAt) {
        expiresAt = Date.now() + CACHE_TTL_MS
        result = runAll()
      }
      return await result
    },
    close: () => {
      probes.delete(probe)
    }
  }
  probes.set(probe, checks)
  return probe
}
