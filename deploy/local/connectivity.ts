import { connect as connectNats } from 'nats'
import { Redis } from 'ioredis'
import { once } from 'node:events'
import { connect } from 'node:net'
import { parseNatsUrl } from '@tandem/bus-kit'
import { UserError } from '@tandem/local-servers/screen.ts'
import { isPostgresReady } from '@tandem/local-servers/postgres.ts'

const TIMEOUT_MS = 5_000

const endpoints: Record<string, { variable: string, probe: (url: string) => Promise<unknown> }> = {
  postgres: { variable: 'DATABASE_URL', probe: (url) => isPostgresReady(url, TIMEOUT_MS) },
  redis: {
    variable: 'REDIS_URL',
    async probe (url) {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: TIMEOUT_MS })
      let reason: Error | undefined
      client.on('error', (error) => {
        reason = error
      })
      try {
        await client.connect()
        await client.ping()
      } catch (error) {
        // ioredis rejects with "Connection is closed"; only the error event has the reason.
        throw reason ?? error
      } finally {
        client.disconnect()
      }
    }
  },
  nats: {
    variable: 'NATS_URL',
    async probe (url) {
      const connection = await connectNats({ ...parseNatsUrl(url), timeout: TIMEOUT_MS, reconnect: false })
      try {
        await connection.jetstreamManager()
      } finally {
        await connection.close()
      }
    }
  },
  smtp: {
    variable: 'SMTP_URL',
    async probe (url) {
      const { hostname, port, protocol } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port || (protocol === 'smtps:' ? 465 : 587)) })
      try {
        await once(socket, 'connect', { signal: AbortSignal.timeout(TIMEOUT_MS) })
      } finally {
        socket.destroy()
      }
    }
  }
}

/** Checks that an external server is reachable. @throws UserError that names the variable of its address */
export async function checkConnectivity (name: string, url: string) {
  const { variable, probe } = endpoints[name] ?? { variable: name, probe: async () => {} }
  try {
    await probe(url)
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const address = new URL(url).host
    throw new UserError(
      `${variable}: ${name} is unreachable at ${address} (${message || code}): start it, correct the variable, ` +
        "or unset it to use Tandem's own server"
    )
  }
}
