import type pg from 'pg'
import { Counter, Gauge, Histogram } from 'prom-client'

/** The pools of this process, for as long as they are open. */
export const pools = new Set<pg.Pool>()
const sum = (count: (pool: pg.Pool) => number) => [...pools].reduce((total, pool) => total + count(pool), 0)

new Gauge({
  name: 'postgres_pool_connections',
  help: 'Connections to Postgres: busy, or idle and kept',
  labelNames: ['state'] as const,
  collect () {
    this.set({ state: 'idle' }, sum((pool) => pool.idleCount))
    this.set({ state: 'busy' }, sum((pool) => pool.totalCount - pool.idleCount))
  }
})
const waits = new Histogram({
  name: 'postgres_pool_wait_seconds',
  help: 'How long a caller waited for a connection',
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
})
const refusals = new Counter({
  name: 'postgres_pool_refusals_total',
  help: 'Callers that got no connection: none was free in time, or Postgres is away'
})

/** Takes a connection from `pool`, and counts what it took. */
export async function acquire (pool: pg.Pool): Promise<pg.PoolClient> {
  const stop = waits.startTimer()
  try {
    return await pool.connect()
  } catch (error) {
    refusals.inc()
    throw error
  } finally {
    stop()
  }
}
