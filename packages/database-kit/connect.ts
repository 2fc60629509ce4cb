import {
  Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  ValueNode,
  type LimitNode,
  type PostgresPoolClient
} from 'kysely'
import pg from 'pg'
import type { KitLog } from '@tandem/process-kit'
import { followPrimary, READ_ONLY } from './hosts.ts'
import { acquire, pools } from './metrics.ts'
import { TIMEOUTS_MS } from './timeouts.ts'

interface ConnectOptions {
  log: Pick<KitLog, 'warn'>
  /** 5 for each of six services stay well below Postgres's default of 100. */
  maxConnections?: number
  /** Multiplies every timeout; by default 1. */
  timeoutFactor?: number
  /** Called with the error of each statement that fails. */
  onError?: (error: Error & { code?: string }) => void
}

const NAMED_STATEMENTS = 500
/** The SQLSTATE of a prepared statement that would return other columns than before. */
const CHANGED_RESULT = '0A000'

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
  pools.add(pool)
  const nameOf = nameStatements(log)

  const dialect = new PostgresDialect({
    pool: {
      options: pool.options,
      connect: async () => wrapClient(await acquire(async () => await primary.connect(pool)), nameOf, onError),
      async end () {
        pools.delete(pool)
        await pool.end()
      }
    }
  })
  dialect.createQueryCompiler = () => new LiteralLimits()
  return new Kysely<Tables>({ dialect })
}

/**
 * Postgres parses and plans an unnamed statement at each call, a named one once per connection. A text has the same
 * name on every connection of a pool.
 */
function nameStatements (log: ConnectOptions['log']) {
  const names = new Map<string, string>()

  return (text: string, values: readonly unknown[]) => {
    const known = names.get(text)
    // A text without values may hold several statements, which cannot be prepared.
    const isOne = values.length > 0 || isQuery(text)
    if (known || !isOne || names.size === NAMED_STATEMENTS) return known
    const name = `s${names.size}`
    names.set(text, name)
    // Most likely a text contains values: then each keeps a plan in the memory of Postgres, and no other is prepared.
    if (names.size === NAMED_STATEMENTS) {
      log.warn({ statement: text.slice(0, 60) }, `${NAMED_STATEMENTS} statements are prepared, which is all`)
    }
    return name
  }
}

const isQuery = (text: string) => /^\s*(select|insert|update|delete|with)\s[^;]+$/i.test(text)

/**
 * A connection as Kysely uses it. Once it cannot be used again, its release closes it: the next query on one that still
 * owes a result would wait behind it, on a dead network connection forever.
 */
function wrapClient (
  client: pg.PoolClient,
  nameOf: ReturnType<typeof nameStatements>,
  onError: NonNullable<ConnectOptions['onError']>
): PostgresPoolClient {
  let isBroken = false

  async function query (text: string, values: readonly unknown[] = []) {
    const name = nameOf(text, values)
    try {
      return await client.query({ ...name && { name }, text, values: [...values] })
    } catch (thrown) {
      const error = thrown as Error & { code?: string }
      onError(error)
      // After READ_ONLY the address, or another host, may already lead to the new primary. After CHANGED_RESULT, a
      // migration has added a column that a statement which this connection has prepared returns.
      const isUseless = error.code === READ_ONLY || error.code === CHANGED_RESULT
      if (error.message === 'Query read timeout' || isUseless) isBroken = true
      throw error
    }
  }

  return {
    // Its type also has an overload for cursors, which nothing here uses.
    query: query as unknown as PostgresPoolClient['query'],
    release: (isDiscarded) => client.release(isDiscarded || isBroken)
  }
}

// Under a generic plan a limit that is a parameter makes Postgres expect a tenth of the table.
class LiteralLimits extends PostgresQueryCompiler {
  protected override visitLimit ({ limit }: LimitNode) {
    this.append('limit ')
    if (ValueNode.is(limit)) this.appendImmediateValue(limit.value)
    else this.visitNode(limit)
  }
}
