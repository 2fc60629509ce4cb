import type pg from 'pg'
import type { Kysely } from 'kysely'
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

interface ServerState {
  connections: number
  maxConnections: number
  xidAge: number
  standbys: number
}

const SERVER_CACHE_MS = 1_000
let server: { at: number, state: ReturnType<typeof readServer> } | undefined

/**
 * What any role can read about the server. Undefined while it is unavailable. A copy that is made for a new standby is no
 * standby: PostgresStandbyGone would fire for a day after it.
 */
const readServer = async () =>
  await readRow<ServerState>(`
    select (select sum(numbackends) from pg_stat_database)::int as connections,
      current_setting('max_connections')::int as "maxConnections",
      (select max(age(datfrozenxid)) from pg_database)::int as "xidAge",
      (select count(*) from pg_stat_replication where application_name <> 'pg_basebackup')::int as standbys`)

/** Undefined while the server is unavailable. */
async function readRow<Row extends pg.QueryResultRow> (query: string) {
  const [pool] = pools
  const result = await pool?.query<Row>(query).catch(() => undefined)
  return result?.rows[0]
}

function createServerGauge (name: string, help: string, valueOf: (state: ServerState) => number) {
  new Gauge({
    name,
    help,
    async collect () {
      if (!server || Date.now() - server.at > SERVER_CACHE_MS) server = { at: Date.now(), state: readServer() }
      const state = await server.state
      if (state) this.set(valueOf(state))
      else this.remove()
    }
  })
}
createServerGauge('postgres_connections', 'Connections to the server, of all processes', (state) => state.connections)
createServerGauge('postgres_max_connections', 'The max_connections of the server', (state) => state.maxConnections)
createServerGauge(
  'postgres_xid_age',
  'Transactions since the oldest one that is not frozen; the server stops to accept writes near 2 billion',
  (state) => state.xidAge
)
createServerGauge('postgres_standbys', 'Standbys that stream from the server', (state) => state.standbys)

// Reading the sizes of all files takes longer than the other figures, and they change slowly.
const SIZE_CACHE_MS = 5 * 60_000
let schema: { at: number, row: ReturnType<typeof readSchema> } | undefined

const readSchema = async () =>
  await readRow<{ bytes: number }>(`
    select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 as bytes from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'm')`)

new Gauge({
  name: 'postgres_schema_bytes',
  help: 'Size of the tables and indexes of this service',
  async collect () {
    if (!schema || Date.now() - schema.at > SIZE_CACHE_MS) schema = { at: Date.now(), row: readSchema() }
    const row = await schema.row
    if (row) this.set(row.bytes)
    else schema = undefined
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

/** Takes a connection, and counts what it took. */
export async function acquire (connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
  const stop = waits.startTimer()
  try {
    return await connect()
  } catch (error) {
    refusals.inc()
    throw error
  } finally {
    stop()
  }
}

/** What a query gauge measures: the tables of one service of this process. */
export interface QueryGaugeSource<Tables> {
  service: string
  db: Kysely<Tables>
}

/**
 * A gauge that queries Postgres when it is read: one value for each of `sources`, 0 for a query without a row, and no
 * value, but its name in `metrics_unread`, while the query fails.
 */
export function createQueryGauge<Tables> ({ name, help, sources, query }: {
  name: string,
  help: string,
  sources: Set<QueryGaugeSource<Tables>>,
  query: (db: Kysely<Tables>) => Promise<{ value: number } | undefined>
}) {
  return new Gauge({
    name,
    help,
    labelNames: ['service'] as const,
    async collect () {
      this.reset()
      await Promise.all([...sources].map(async ({ service, db }) => {
        const row = await query(db)
        this.set({ service }, row?.value ?? 0)
      }))
    }
  })
}
