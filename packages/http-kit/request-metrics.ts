import type { FastifyInstance } from 'fastify'
import client, { type Histogram } from 'prom-client'
import { collectProcessMetrics, registry } from '@tandem/process-kit'

const NAME = 'http_request_duration_seconds'
const BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

interface Series {
  labels: { method: string, route: string, status_code: number }
  /** How many requests took at most each of BUCKETS_SECONDS and, at the end, longer. */
  counts: number[]
  sum: number
}

/** Counts and times the requests of `app` by route pattern. Health probes and unknown paths are left out. */
export function measureRequests (app: FastifyInstance) {
  const { metric, observe } = createRequestHistogram()
  // A process has one server. Tests create several; each further one gets its own registry, because a metric name can
  // be registered only once.
  const isRegistered = registry.getSingleMetric(NAME) !== undefined
  if (!isRegistered) collectProcessMetrics()
  ;(isRegistered ? new client.Registry() : registry).registerMetric(metric)

  app.addHook('onResponse', (request, reply, done) => {
    const { config } = request.routeOptions
    if (config.url !== undefined && config.logged !== false) {
      observe(config, request.method, reply.statusCode, reply.elapsedTime / 1_000)
    }
    done()
  })
}

/**
 * A histogram by method, route and status. prom-client's own builds a key of all labels for each observation, which
 * takes longer than the rest of it; this one looks up the route's.
 */
function createRequestHistogram () {
  const series: Series[] = []
  const byRoute = new Map<object, Map<string, Series[]>>()

  function find (route: { url?: string }, method: string, status: number) {
    let methods = byRoute.get(route)
    if (!methods) byRoute.set(route, methods = new Map())
    let statuses = methods.get(method)
    if (!statuses) methods.set(method, statuses = [])
    let found = statuses[status]
    if (!found) {
      const labels = { method, route: route.url ?? '', status_code: status }
      found = statuses[status] = { labels, counts: Array.from({ length: BUCKETS_SECONDS.length + 1 }, () => 0), sum: 0 }
      series.push(found)
    }
    return found
  }

  return {
    observe (route: { url?: string }, method: string, status: number, seconds: number) {
      const each = find(route, method, status)
      let bucket = 0
      while (bucket < BUCKETS_SECONDS.length && seconds > BUCKETS_SECONDS[bucket]!) bucket++
      each.counts[bucket]!++
      each.sum += seconds
    },
    // The registry takes any object with a name and `get`; its type asks for prom-client's class.
    metric: {
      labelNames: ['method', 'route', 'status_code'],
      name: NAME,
      get: async () => ({
        name: NAME,
        help: 'request duration in seconds',
        type: 'histogram',
        aggregator: 'sum',
        values: series.flatMap(valuesOf)
      })
    } as unknown as Histogram
  }
}

function valuesOf ({ labels, counts, sum }: Series) {
  let count = 0
  const buckets = counts.map((each, index) => {
    count += each
    return { metricName: `${NAME}_bucket`, labels: { le: BUCKETS_SECONDS[index] ?? '+Inf', ...labels }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count }
  ]
}
