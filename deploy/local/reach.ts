import { connect as connectNats } from 'nats'
import { Redis } from 'ioredis'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Refusal } from './screen.ts'
import { postgresAnswers } from './servers.ts'

const PATIENCE = 5_000

const doors: Record<string, { variable: string, knock: (url: string) => Promise<unknown> }> = {
  postgres: { variable: 'DATABASE_URL', knock: postgresAnswers },
  redis: {
    variable: 'REDIS_URL',
    async knock (url) {
      const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: PATIENCE })
      let reason: Error | undefined
      client.on('error', (error) => { reason = error })
      try {
        await client.connect()
        await client.ping()
      } catch (error) {
        // ioredis rejects with "Connection is closed" and tells why only here.
        throw reason ?? error
      } finally {
        client.disconnect()
      }
    }
  },
  nats: {
    variable: 'NATS_URL',
    async knock (url) {
      const { host, username, password } = new URL(url)
      const connection = await connectNats({
        servers: host, ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }), timeout: PATIENCE, reconnect: false
      })
      try {
        await connection.jetstreamManager()
      } finally {
        await connection.close()
      }
    }
  },
  smtp: {
    variable: 'SMTP_URL',
    async knock (url) {
      const { hostname, port, protocol } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port || (protocol === 'smtps:' ? 465 : 587)) })
      try {
        await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE) })
      } finally {
        socket.destroy()
      }
    }
  }
}

/** Finds out whether a server of somebody else's is there. @throws Refusal that names the variable it came from */
export async function checkConnectivity (name: string, url: string) {
  const { variable, knock } = doors[name] ?? { variable: name, knock: async () => {} }
  try {
    await knock(url)
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const address = new URL(url).host
    throw new Refusal(`${variable}: no ${name} can be reached at ${address} (${message || code}): start it, correct the variable, or unset it for a server of Tandem's own`)
  }
}
