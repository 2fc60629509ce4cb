import { connect, type NatsConnection } from 'nats'

/** What this kit writes of itself; every logger of the house has it. */
export interface Log {
  info (details: object, message: string): void
  warn (details: object, message: string): void
  error (details: object, message: string): void
}

/** One process's way to the broker. It comes and goes; whoever uses it must do without for a while. */
export interface Bus {
  readonly service: string
  readonly log: Log
  /** The connection while it stands, else undefined. */
  current (): NatsConnection | undefined
  /** Runs `work` now if connected, and again at every new connection. */
  onConnect (work: (connection: NatsConnection) => void): void
  close (): Promise<void>
}

const SECONDS_BETWEEN_WORDS = 10

/**
 * Begins to connect and returns at once: a service whose broker is away still answers its clients.
 * @param url `nats://[user:password@]host:port`, several by comma
 */
export function connectBus (url: string, { service, log }: { service: string, log: Log }): Bus {
  const addresses = url.split(',').map((each) => new URL(each))
  const listeners: ((connection: NatsConnection) => void)[] = []
  let connection: NatsConnection | undefined
  let connected = false
  let closing = false
  let lastWord = 0

  const connecting = (async () => {
    while (!closing) {
      try {
        connection = await connect({
          servers: addresses.map((address) => address.host),
          name: service,
          ...(addresses[0]?.username && {
            user: decodeURIComponent(addresses[0].username), pass: decodeURIComponent(addresses[0].password)
          }),
          ...(addresses[0]?.protocol === 'tls:' && { tls: {} }),
          timeout: 2_000,
          pingInterval: 5_000,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 250,
          reconnectJitter: 250
        })
        stand(connection)
        return await follow(connection)
      } catch (error) {
        if (Date.now() - lastWord > SECONDS_BETWEEN_WORDS * 1_000) {
          lastWord = Date.now()
          log.warn({ err: error }, `NATS cannot be reached at ${addresses.map((each) => each.host).join(', ')}; trying on`)
        }
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  })()

  function stand (connection: NatsConnection) {
    connected = true
    log.info({}, 'connected to NATS')
    for (const listener of listeners) listener(connection)
  }

  async function follow (connection: NatsConnection) {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false
        log.warn({}, 'lost NATS; what is said meanwhile waits in the outbox')
      }
      if (status.type === 'reconnect') stand(connection)
    }
  }

  return {
    service,
    log,
    current: () => connected ? connection : undefined,
    onConnect (work) {
      listeners.push(work)
      if (connected && connection) work(connection)
    },
    async close () {
      closing = true
      connected = false
      // Closing flushes what was sent; the loop above ends with the connection.
      await connection?.close()
      await connecting
    }
  }
}
