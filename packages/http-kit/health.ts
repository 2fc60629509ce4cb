import type { FastifyInstance } from 'fastify'
import { createHealthProbe, type HealthChecks } from '@tandem/process-kit'

/**
 * Serves GET /health/live (the process responds) and GET /health/ready (`{ status, degraded, down }`), which is 503
 * while a required check fails or the server closes. Without `exposesFailingChecks` the response has no `down` and no
 * `reasons`; the names of failing checks are always in the log and in a metric.
 */
export async function serveHealth (
  app: FastifyInstance,
  { checks, exposesFailingChecks }: { checks: HealthChecks, exposesFailingChecks: boolean }
) {
  const probe = createHealthProbe(checks, app.log)
  app.addHook('onClose', async () => probe.close())
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })

  const options = {
    schema: { hide: true },
    config: { public: true, logged: false }
  }
  app.get('/health/live', options, async () => ({ status: 'live' }))
  app.get('/health/ready', options, async (_request, reply) => {
    const { down, reasons } = await probe.find()
    const ready = !closing && !down.some((name) => checks[name]?.required)
    return reply.code(ready ? 200 : 503).send({
      status: closing ? 'closing' : ready ? 'ready' : 'not ready',
      degraded: down.length > 0,
      ...(exposesFailingChecks && { down, ...(Object.keys(reasons).length > 0 && { reasons }) })
    })
  })
}
