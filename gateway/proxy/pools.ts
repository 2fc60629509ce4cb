import { registry } from '@tandem/process-kit'
import type { Log } from '@tandem/process-kit'
import { Counter, Gauge } from 'prom-client'
import { Pool } from 'undici'
import { createBreaker } from './breaker.ts'
import type { Breaker } from './breaker.ts'
import { createRetryBudget } from './retry-budget.ts'
import type { RetryBudget } from './retry-budget.ts'
import type { ServiceName } from '../routes.ts'

/** A service behind the gateway. */
export interface Upstream {
  name: ServiceName
  origin: string
  pool: Pool
  /** For long bodies and downloads, which would otherwise soon hold every connection that other requests need. */
  streamingPool: Pool
  breaker: Breaker
  retryBudget: RetryBudget
  countFailure(): void
  close(): Promise<void>
}

const failures = new Counter({
  name: 'gateway_upstream_failures_total',
  help: 'Requests to which a service did not respond',
  labelNames: ['service'],
  registers: [registry]
})
const breakerOpen = new Gauge({
  name: 'gateway_breaker_open',
  help: 'Whether the circuit breaker of a service is open (1) or closed (0)',
  labelNames: ['service'],
  registers: [registry]
})

const CONNECTIONS = 32
export const STREAMING_CONNECTIONS = 8
/** Bodies that reach their service as they arrive. Each takes a connection for as long as its client sends. */
export const MAX_PASSED_BODIES = 24
const connectOptions = { timeout: 1_000 }
// Half of the time for which a service goes on when it stops, before it closes idle connections: so none of ours is
// idle then, and no request is sent on a connection that is just being closed.
const MAX_IDLE_CONNECTION_MS = 500

export function createUpstream (name: ServiceName, url: string, log: Log): Upstream {
  const { origin } = new URL(url)
  // forward() enforces the deadline to the millisecond; undici's own timeouts fire about half a second late.
  const common = {
    pipelining: 1,
    headersTimeout: 0,
    connect: connectOptions,
    keepAliveMaxTimeout: MAX_IDLE_CONNECTION_MS
  }
  const pools = [
    new Pool(origin, { ...common, connections: CONNECTIONS }),
    new Pool(origin, { ...common, connections: STREAMING_CONNECTIONS + MAX_PASSED_BODIES })
  ] as const
  breakerOpen.set({ service: name }, 0)
  failures.inc({ service: name }, 0)

  return {
    name,
    origin,
    pool: pools[0],
    streamingPool: pools[1],
    breaker: createBreaker((isOpen) => {
      breakerOpen.set({ service: name }, isOpen ? 1 : 0)
      log.warn(
        { service: name },
        isOpen
          ? 'a service does not respond: its circuit breaker opens'
          : 'a service responds again: its circuit breaker closes'
      )
    }),
    retryBudget: createRetryBudget(),
    countFailure: () => failures.inc({ service: name }),
    close: async () => void await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
