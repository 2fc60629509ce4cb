import type { FastifyInstance } from 'fastify'
import metrics from 'fastify-metrics'
import client from 'prom-client'
import { registry } from '@tandem/process-kit'

const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Counts and times the requests of `app` by route pattern. */
export async function measureRequests (app: FastifyInstance) {
  // A process has one server. Tests create several; each further one gets its own registry, because a metric name can
  // be registered only once.
  const isRegistered = registry.getSingleMetric('http_request_duration_seconds') !== undefined
  const registers = [isRegistered ? new client.Registry() : registry]
  await app.register(metrics.default, {
    promClient: client,
    endpoint: null,
    defaultMetrics: { enabled: !isRegistered },
    routeMetrics: {
      enabled: { histogram: true, summary: false },
      routeBlacklist: ['/health/live', '/health/ready'],
      overrides: { histogram: { buckets: BUCKETS_SECONDS, registers }, summary: { registers } }
    }
  } as never)
}
