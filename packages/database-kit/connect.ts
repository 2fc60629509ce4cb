import { Kysely, PostgresDialect, PostgresQueryCompiler, ValueNode, type LimitNode } from 'kysely'
import pg from 'pg'
import { followPrimary, READ_ONLY } from './hosts.ts'
import { acquire, pools } from './metrics.ts'
import { TIMEOUTS_MS } from './timeouts.ts'

/** The part of a logger that this kit uses. */
export interface Log {
  warn(details: object, message: string): void
}

export interface ConnectOptions {
  log: Log
  /** 5 for each of six services stay well below Postgres's default of 100. */
  maxConnections?: number
  /** Multiplies every timeout; by default 1. */
  timeoutFactor?: number
  /** Called with the error of each statement that fails. */
  onError?: (error: Error & { code?: string }) => void
}

const NAMED_STATEMENTS = 500

const broken = new WeakSet<pg.PoolClient>()

// bigint holds counts and sequences here, none of them near 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Opens a pool and returns the query builder over it; `destroy()` closes both. Of several hosts in `url`, it connects to
 * the one that accepts writes.
 * Nothing waits for Postgres longer than this, whatever state it is in: 2 s for a connection, 2 s for a statement
 * (measured by Postgres), 3 s for a result (measured here, for a server that froze).
 */
export function connect<Tables> (
  url: string,
  { log, maxConnections = 5, timeoutFactor = 1, onError = () => {} }: ConnectOptions
): Kysely<Tables> {
  const primary = followPrimary(url)
  const pool = new pg.Pool({
    ...primary.options,
    max: maxConnections,
    // A new connection costs more than a kept one, and would be needed when the load is highest.
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: timeoutFactor * TIMEOUTS_MS.connect,
    statement_timeout: timeoutFactor * TIMEOUTS_MS.statement,
    lock_timeout: timeoutFactor * TIMEOUTS_MS.lock,
    idle_in_transaction_session_timeout: timeoutFactor * TIMEOUTS_MS.idleInTransaction,
    query_timeout: timeoutFactor * TIMEOUTS_MS.result
  })
  // Without a listener, the end of an idle connection would end the process.
  pool.on('error', (error) => log.warn({ err: error }, 'an idle Postgres connection ended'))
  // The same goes for a connection in use. Its user sees the error in the running or the next statement.
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  pool.on('connect', (client) => nameStatements(client, log, onError))
  pools.add(pool)

  const dialect = new PostgresDialect({
    pool: {
      options: pool.options,
      connect: async () => dropBroken(await acquire(async () => await primary.connect(pool))),
      async end () {
        pools.delete(pool)
        await pool.end()
      }
    }
  })
  dialect.createQueryCompiler = () => new LiteralLimits()
  return new Kysely<Tables>({ dialect })
}

/** Postgres parses and plans an unnamed statement at each call, a named one once per connection. */
function nameStatements (client: pg.PoolClient, log: Log, onError: NonNullable<ConnectOptions['onError']>) {
  const names = new Map<string, string>()
  const query = client.query.bind(client) as (config: pg.QueryConfig) => Promise<pg.QueryResult>

  const named = (text: string, values: unknown[] = []) => {
    let name = names.get(text)
    // A text without values may hold several statements, which cannot be prepared.
    if (!name && values.length > 0 && names.size < NAMED_STATEMENTS) {
      name = `s${names.size}`
      names.set(text, name)
      // Most likely a text contains values: then each keeps a plan in the memory of Postgres, and no other is prepared.
      if (names.size === NAMED_STATEMENTS) {
        log.warn(
          { statement: text.slice(0, 60) },
          `a connection has prepared ${NAMED_STATEMENTS} statements, which is all`
        )
      }
    }
    return query({ name, text, values }).catch((error: Error & { code?: string }) => {
      onError(error)
      // After READ_ONLY the address, or another host, may already lead to the new primary.
      if (error.message === 'Query read timeout' || error.code === READ_ONLY) broken.add(client)
      throw error
    })
  }
  // pg declares `query` with a dozen overloads; Kysely and this kit use just this one.
  client.query = named as typeof client.query
}

/**
 * Closes a connection that cannot be used again. The next query on one that still owes a result would wait behind it, on
 * a dead network connection forever.
 */
function dropBroken (client: pg.PoolClient) {
  const release = client.release.bind(client)
  client.release = (isBroken) => release(isBroken || broken.has(client))
  return client
}

// Under a generic plan a limit that is a parameter makes Postgres expect a tenth of the table.
class LiteralLimits extends PostgresQueryCompiler {
  protected override visitLimit ({ limit }: LimitNode) {
    this.append('limit ')
    if (ValueNode.is(limit)) this.appendImmediateValue(limit.value)
    else this.visitNode(limit)
  }
}
