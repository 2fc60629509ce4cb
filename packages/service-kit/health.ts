import type { FastifyInstance } from 'fastify'
import { Gauge } from 'prom-client'
import { registry } from './metrics.ts'

/** Something the service needs. `required`: without it the service is not ready; else it is only named. */
export interface HealthCheck {
  check: () => Promise<unknown>
  required: boolean
}
export type HealthChecks = Record<string, HealthCheck>

const failing = new Gauge({ name: 'health_check_failing', help: 'Whether something that the process needs is down', labelNames: ['check'], registers: [registry] })

const timeoutMs = 1_000
const fresh = 1_000

async function isDown (check: () => Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => { timer = setTimeout(resolve, timeoutMs, true) })
  try {
    return await Promise.race([check().then((answer) => answer === false), late])
  } catch {
    return true
  } finally {
    clearTimeout(timer)
  }
}

/**
 * GET /health/live (the process answers) and GET /health/ready (`{ status, degraded, down }`): 503 while a required check fails or the server
 * closes. Each check has a second, and is asked at most once a second. Without `exposesFailingChecks` the answer has no `down`; names are in the log and in a metric.
 */
export async function serveHealth (app: FastifyInstance, { checks, exposesFailingChecks }: { checks: HealthChecks, exposesFailingChecks: boolean }) {
  let closing = false
  let asked = 0
  let answer: Promise<string[]> | undefined
  let noted = ''

  function findDown () {
    if (!answer || Date.now() - asked > fresh) {
      asked = Date.now()
      answer = Promise.all(Object.entries(checks).map(async ([name, { check }]) => await isDown(async () => await check()) ? [name] : []))
        .then((names) => note(names.flat()))
    }
    return answer
  }

  function note (down: string[]) {
    for (const name of Object.keys(checks)) failing.set({ check: name }, down.includes(name) ? 1 : 0)
    if (noted !== down.join()) app.log.warn({ down }, down.length > 0 ? 'something is down' : 'nothing is down any more')
    noted = down.join()
    return down
  }

  app.addHook('preClose', async () => { closing = true })

  const options = {
    schema: { hide: true },
    config: { public: true, logged: false, pressureHandler: () => {} }
  }
  app.get('/health/live', options, async () => ({ status: 'live' }))
  app.get('/health/ready', options, async (_request, reply) => {
    const down = await findDown()
    const ready = !closing && !down.some((name) => checks[name]?.required)
    return reply.code(ready ? 200 : 503).send({ status: closing ? 'closing' : ready ? 'ready' : 'not ready', degraded: down.length > 0, ...(exposesFailingChecks && { down }) })
  })
}
