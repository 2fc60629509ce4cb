import { registry } from '@tandem/service-kit'
import type { Log } from '@tandem/service-kit'
import { Counter, Gauge } from 'prom-client'
import { Pool } from 'undici'
import { createBreaker } from './breaker.ts'
import type { Breaker } from './breaker.ts'
import { createBudget } from './retry-budget.ts'
import type { Budget } from './retry-budget.ts'
import type { Service } from '../routes.ts'

/** A service as the gateway sees it. */
export interface Upstream {
  name: Service
  origin: string
  pool: Pool
  /** For bodies that are streamed: senders that take their time would soon hold every connection that the others need. */
  streams: Pool
  breaker: Breaker
  retries: Budget
  countFailure (): void
  close (): Promise<void>
}

const failures = new Counter({ name: 'gateway_upstream_failures_total', help: 'Requests a service did not answer', labelNames: ['service'], registers: [registry] })
const open = new Gauge({ name: 'gateway_breaker_open', help: 'Whether a service is given a rest', labelNames: ['service'], registers: [registry] })

const connections = 32
const streams = 8
const connecting = { timeout: 1_000 }

export function createUpstream (name: Service, url: string, log: Log): Upstream {
  const { origin } = new URL(url)
  // The deadline of a whole request is kept by who sends it, to the millisecond; undici's own are about half a second late.
  const common = { pipelining: 1, headersTimeout: 0, connect: connecting }
  const pools = [new Pool(origin, { ...common, connections }), new Pool(origin, { ...common, connections: streams })] as const
  open.set({ service: name }, 0)

  return {
    name,
    origin,
    pool: pools[0],
    streams: pools[1],
    breaker: createBreaker((isOpen) => {
      open.set({ service: name }, isOpen ? 1 : 0)
      log.warn({ service: name }, isOpen ? 'a service does not answer and is given a rest' : 'a service answers again')
    }),
    retries: createBudget(),
    countFailure: () => failures.inc({ service: name }),
    close: async () => void await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
