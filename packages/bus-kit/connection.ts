import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ConnectionOptions, type NatsConnection } from 'nats'
import { throttleLog } from './throttle-log.ts'
import { inboxOf } from './subjects.ts'

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
  /** Runs `work` now if connected, and again whenever the connection stands anew; returns what ends that. */
  onConnect (work: (connection: NatsConnection) => void): () => void
  /** Runs `work` before the connection is closed. */
  onClose (work: () => Promise<unknown>): void
  close (): Promise<void>
}

/** The parts of `nats://[user:password@]host:port`, several by comma, as the client wants them. */
export function parseNatsUrl (url: string): Pick<ConnectionOptions, 'user' | 'pass' | 'tls'> & { servers: string[] } {
  const addresses = url.split(',').map((each) => new URL(each.trim()))
  const { username = '', password = '', protocol } = addresses[0] ?? {}
  return {
    servers: addresses.map((address) => address.host),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === 'tls:' && { tls: {} })
  }
}

const RETRY_EVERY = 250
const CLOSE_WITHIN = 2_000

/**
 * Begins to connect and returns at once: a service whose broker is away still answers its clients.
 * @param url as `connectionOptions` takes it
 */
export function connectBus (url: string, { service, log }: { service: string, log: Log }): Bus {
  const options = parseNatsUrl(url)
  const listeners = new Set<(connection: NatsConnection) => void>()
  const closers: (() => Promise<unknown>)[] = []
  const closing = new AbortController()
  const warn = throttleLog((error) => log.warn({ err: error }, `NATS cannot be reached at ${options.servers.join(', ')}; trying on`))
  const warnOfRights = throttleLog((error) => log.error({}, `NATS refuses: ${String(error)}`))
  let connection: NatsConnection | undefined
  let connected = false

  const connecting = (async () => {
    while (!closing.signal.aborted) {
      try {
        connection = await connect({
          ...options,
          name: service,
          inboxPrefix: inboxOf(service),
          timeout: 2_000,
          pingInterval: 5_000,
          maxReconnectAttempts: -1,
          reconnectTimeWait: RETRY_EVERY,
          reconnectJitter: RETRY_EVERY,
          noAsyncTraces: true
        })
        if (closing.signal.aborted) return await connection.close()
        stand(connection)
        void follow(connection)
        // The client reconnects by itself, but gives up for good when it is refused twice.
        const ended = await connection.closed()
        if (ended) warn(ended)
      } catch (error) {
        warn(error)
      }
      connected = false
      await sleep(RETRY_EVERY, undefined, { signal: closing.signal }).catch(() => {})
    }
  })()

  function stand (connection: NatsConnection) {
    connected = true
    log.info({}, 'connected to NATS')
    for (const listener of listeners) listener(connection)
  }

  async function follow (connection: NatsConnection) {
    for await (const { type, data, ...details } of connection.status()) {
      if (type === 'disconnect' && connected) {
        connected = false
        if (!closing.signal.aborted) log.warn({}, 'lost NATS; what is said meanwhile waits in the outbox')
      }
      if (type === 'reconnect') stand(connection)
      if (type === 'error') {
        const { permissionContext } = details as { permissionContext?: { operation: string, subject: string } }
        warnOfRights(permissionContext ? `${permissionContext.operation} ${permissionContext.subject}` : data)
      }
    }
  }

  return {
    service,
    log,
    current: () => connected ? connection : undefined,
    onConnect (work) {
      listeners.add(work)
      if (connected && connection) work(connection)
      return () => listeners.delete(work)
    },
    onClose: (work) => closers.push(work),
    async close () {
      closing.abort()
      const late = sleep(CLOSE_WITHIN, undefined, { ref: false })
      await Promise.race([Promise.allSettled(closers.map((each) => each())), late])
      // Acknowledgements are sent without an answer, so they are flushed before the connection goes.
      if (connected) await Promise.race([connection?.flush().catch(() => {}), late])
      connected = false
      await connection?.close()
      await connecting
    }
  }
}
