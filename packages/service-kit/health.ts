import type { FastifyInstance } from 'fastify'
import { Gauge } from 'prom-client'
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
 * Serves GET /health/live (the process responds) and GET /health/ready (`{ status, degraded, down }`), which is 503
 * while a required check fails or the server closes. A check times out after a second and runs at most once a second.
 * Without `exposesFailingChecks` the response has no `down`; the names of failing checks are always in the log and in a
 * metric.
 */
export async function serveHealth (
  app: FastifyInstance,
  { checks, exposesFailingChecks }: { checks: HealthChecks, exposesFailingChecks: boolean }
) {
  let closing = false
  let checkedAt = 0
  let result: Promise<string[]> | undefined
  let lastReported = ''

  function findDown () {
    if (!result || Date.now() - checkedAt > CACHE_TTL_MS) {
      checkedAt = Date.now()
      result = Promise.all(
        Object.entries(checks).map(async ([name, { check }]) => await isDown(async () => await check()) ? [name] : [])
      )
        .then((names) => report(names.flat()))
    }
    return result
  }

  function report (down: string[]) {
    for (const name of Object.keys(checks)) failingGauge.set({ check: name }, down.includes(name) ? 1 : 0)
    if (lastReported !== down.join()) {
      app.log.warn({ down }, down.length > 0 ? 'health checks fail' : 'all health checks pass again')
    }
    lastReported = down.join()
    return down
  }

  app.addHook('preClose', async () => {
    closing = true
  })

  const options = {
    schema: { hide: true },
    config: { public: true, logged: false, pressureHandler: () => {} }
  }
  app.get('/health/live', options, async () => ({ status: 'live' }))
  app.get('/health/ready', options, async (_request, reply) => {
    const down = await findDown()
    const ready = !closing && !down.some((name) => checks[name]?.required)
    return reply.code(ready ? 200 : 503).send({
      status: closing ? 'closing' : ready ? 'ready' : 'not ready',
      degraded: down.length > 0,
      ...(exposesFailingChecks && { down })
    })
  })
}
