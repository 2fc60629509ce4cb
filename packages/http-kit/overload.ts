import underPressure from '@fastify/under-pressure'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route responds however late the event loop is. Those under /health and /internal always do. */
    neverRefused?: boolean
  }
}

/**
 * Responds with 503 while the iterations of the event loop take longer than `maxEventLoopDelayMs`, on average over a
 * second: a request takes several of them, so its client would give up before it is served. A core that is fully used
 * refuses nothing by itself, as it may be the neighbours that use it.
 */
export async function refuseOverload (app: FastifyInstance, { maxEventLoopDelayMs }: { maxEventLoopDelayMs: number }) {
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    pressureHandler: async ({ routeOptions: { url = '', config } }) => {
      if (config.neverRefused || /^\/(health|internal)\//.test(url)) return
      throw new Unavailable({ cause: new Error('the event loop is late') })
    }
  })
}
