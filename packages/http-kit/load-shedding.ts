import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { Unavailable } from '@tandem/process-kit'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route responds under pressure, too, as health probes do. */
    neverShed?: boolean
  }
}

const SAMPLE_INTERVAL_MS = 1_000
// A used core alone sheds no load; requests must also have to wait for it.
const BUSY = { utilization: 0.9, delayMs: 250 }
const FULLY_USED = { utilization: 0.98, delayMs: 50 }

/**
 * Responds with 503 at once while the event loop is so late that clients give up before they are served.
 * @fastify/under-pressure does the same with a timer that wakes an idle process a hundred times a second; here each
 * iteration of the event loop is a sample, and requests evaluate the last second, so an idle process does nothing.
 */
export function shedLoad (app: FastifyInstance) {
  const delays = monitorEventLoopDelay({ samplePerIteration: true })
  delays.enable()
  let interval: ReturnType<typeof startInterval> | undefined
  let isOverloaded = false

  function startInterval () {
    delays.reset()
    return { startedAt: performance.now(), utilization: performance.eventLoopUtilization() }
  }

  function evaluate () {
    // Begun by the first request, as the start keeps the event loop busy, but nobody waits for it.
    interval ??= startInterval()
    const intervalMs = performance.now() - interval.startedAt
    if (intervalMs < SAMPLE_INTERVAL_MS) return
    const { utilization } = performance.eventLoopUtilization(interval.utilization)
    const delayMs = expectedDelayMs(delays, intervalMs)
    interval = startInterval()
    isOverloaded = [BUSY, FULLY_USED].some((each) => utilization > each.utilization && delayMs > each.delayMs)
  }

  app.addHook('onClose', async () => delays.disable())
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.neverShed) return done()
    evaluate()
    done(isOverloaded ? new Unavailable() : undefined)
  })
}

/** The mean length of the iteration in which a request arrives, over all moments of an interval. */
function expectedDelayMs (
  { count, mean, stddev }: { count: number, mean: number, stddev: number },
  intervalMs: number
) {
  const sumOfSquares = count === 0 ? 0 : count * (mean ** 2 + stddev ** 2)
  return sumOfSquares / 1e12 / intervalMs
}
