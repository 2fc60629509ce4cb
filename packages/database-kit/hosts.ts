import pg from 'pg'

/**
 * Splits `postgres://user:password@a:5432,b:5432/name` into one URL for each host. node-postgres itself connects to one
 * host only.
 */
export function splitHosts (url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(url) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => `${before}${host.trim()}${after}`) : [url]
}

/**
 * The URL of the host that accepts writes; a URL with one host is returned as it is.
 * @throws the error of the last host if none does
 */
export async function findPrimary (url: string): Promise<string> {
  const urls = splitHosts(url)
  if (urls.length === 1) return url
  let failure: unknown
  for (const connectionString of urls) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      await assertWritable(client)
      return connectionString
    } catch (error) {
      failure = error
    } finally {
      await client.end().catch(() => {})
    }
  }
  throw failure
}

/**
 * Lets a pool connect to the host that accepts writes: like `target_session_attrs=read-write` of libpq, but the next
 * connection begins with the host that was found last.
 */
export function followPrimary (url: string) {
  const urls = splitHosts(url)
  let index = 0

  class PrimaryClient extends pg.Client {
    constructor (options?: pg.ClientConfig) {
      super({ ...options, connectionString: urls[index] })
    }
  }
  const options: pg.PoolConfig = urls.length === 1 ? { connectionString: url } : {
    Client: PrimaryClient,
    verify: (client, done) => void assertWritable(client).then(() => done(), done)
  }

  return {
    options,
    /** Tries each host once. */
    async connect (pool: pg.Pool): Promise<pg.PoolClient> {
      for (let attempt = 1;; attempt++) {
        const tried = index
        try {
          return await pool.connect()
        } catch (error) {
          // The host is not to blame if the pool had no free connection.
          if ((error as Error).message.startsWith('timeout exceeded')) throw error
          // Of several attempts at once, only the first moves on.
          if (index === tried) index = (tried + 1) % urls.length
          if (attempt >= urls.length) throw error
        }
      }
    }
  }
}

async function assertWritable (client: pg.ClientBase) {
  const { rows: [state] } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  if (state?.transaction_read_only === 'on') {
    throw Object.assign(new Error('this host of DATABASE_URL is read-only'), { code: READ_ONLY })
  }
}

/** The SQLSTATE of a write to a server that is read-only: a standby, or a primary that was demoted. */
export const READ_ONLY = '25006'
