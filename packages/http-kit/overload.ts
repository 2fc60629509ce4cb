import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route responds however late the event loop is. Those under /health and /internal always do. */
    neverRefused?: boolean
  }
}

const SAMPLE_MS = 1_000
const RESOLUTION_MS = 10
// One alone can be a single pause, such as a process makes while it starts: what waited is served after it.
const LATE_SAMPLES = 2

/**
 * Responds with 503 while the iterations of the event loop take longer than `maxEventLoopDelayMs`, on average over each
 * of two seconds: a request takes several of them, so its client would give up before it is served. A core that is fully
 * used refuses nothing by itself, as it may be the neighbours that use it.
 */
export function refuseOverload (app: FastifyInstance, { maxEventLoopDelayMs }: { maxEventLoopDelayMs: number }) {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let lateSamples = 0
  const sampling = setInterval(() => {
    const isLate = delays.mean / 1e6 - RESOLUTION_MS > maxEventLoopDelayMs
    lateSamples = isLate ? lateSamples + 1 : 0
    delays.reset()
  }, SAMPLE_MS).unref()
  app.addHook('onClose', (_app, done) => {
    clearInterval(sampling)
    delays.disable()
    done()
  })
  app.addHook('onRequest', ({ routeOptions: { url = '', config } }, _reply, done) => {
    if (lateSamples < LATE_SAMPLES || config.neverRefused || /^\/(health|internal)\//.test(url)) return done()
    done(new Unavailable({ cause: new Error('the event loop is late') }))
  })
}
