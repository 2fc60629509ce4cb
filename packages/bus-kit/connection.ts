import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ConnectionOptions, type NatsConnection } from 'nats'
import { throttleLog, type KitLog } from '@tandem/process-kit'
import { inboxOf } from './subjects.ts'

/** The connection of one process to the broker. It can be down at any time; its users must tolerate that. */
export interface Bus {
  readonly service: string
  readonly log: KitLog
  /** The connection while it is up, otherwise undefined. */
  current(): NatsConnection | undefined
  /** Runs `work` now if connected, and again after each reconnect; returns a function that stops this. */
  onConnect(work: (connection: NatsConnection) => void): () => void
  /** Runs `work` before the connection is closed. */
  onClose(work: () => Promise<unknown>): void
  close(): Promise<void>
}

/** Parses `nats://[user:password@]host:port[,host:port…]`, or several of these, into options of the client. */
export function parseNatsUrl (url: string): Pick<ConnectionOptions, 'user' | 'pass' | 'tls'> & { servers: string[] } {
  const addresses = url.split(',').map((each) => new URL(each.includes('://') ? each.trim() : `nats://${each.trim()}`))
  const { username = '', password = '', protocol } = addresses[0] ?? {}
  return {
    servers: addresses.map((address) => address.host),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(protocol === 'tls:' && { tls: {} })
  }
}

const RETRY_INTERVAL_MS = 250
const CLOSE_TIMEOUT_MS = 2_000

/**
 * Starts to connect and returns at once, so that a service without its broker still serves HTTP.
 * @param url as `parseNatsUrl` accepts it
 */
export function connectBus (url: string, { service, log }: { service: string, log: KitLog }): Bus {
  const options = parseNatsUrl(url)
  const listeners = new Set<(connection: NatsConnection) => void>()
  const closers: (() => Promise<unknown>)[] = []
  const closing = new AbortController()
  const warn = throttleLog((error) =>
    log.warn({ err: error }, `NATS cannot be reached at ${options.servers.join(', ')}; retrying`)
  )
  const logPermissionError = throttleLog((error) => log.error({}, `NATS denied permission: ${String(error)}`))
  let connection: NatsConnection | undefined
  let isConnected = false

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
          reconnectTimeWait: RETRY_INTERVAL_MS,
          reconnectJitter: RETRY_INTERVAL_MS,
          noAsyncTraces: true
        })
        if (closing.signal.aborted) return await connection.close()
        markConnected(connection)
        void watchStatus(connection)
        // The client reconnects by itself, but gives up when authentication fails twice.
        const ended = await connection.closed()
        if (ended) warn(ended)
      } catch (error) {
        warn(error)
      }
      isConnected = false
      await sleep(RETRY_INTERVAL_MS, undefined, { signal: closing.signal }).catch(() => {})
    }
  })()

  function markConnected (connection: NatsConnection) {
    isConnected = true
    log.info({}, 'connected to NATS')
    for (const listener of listeners) listener(connection)
  }

  async function watchStatus (connection: NatsConnection) {
    for await (const { type, data, ...details } of connection.status()) {
      if (type === 'disconnect' && isConnected) {
        isConnected = false
        if (!closing.signal.aborted) log.warn({}, 'lost the connection to NATS; events wait in the outbox')
      }
      if (type === 'reconnect') markConnected(connection)
      if (type === 'error') {
        const { permissionContext } = details as { permissionContext?: { operation: string, subject: string } }
        logPermissionError(permissionContext ? `${permissionContext.operation} ${permissionContext.subject}` : data)
      }
    }
  }

  return {
    service,
    log,
    current: () => isConnected ? connection : undefined,
    onConnect (work) {
      listeners.add(work)
      if (isConnected && connection) work(connection)
      return () => listeners.delete(work)
    },
    onClose: (work) => closers.push(work),
    async close () {
      closing.abort()
      const deadline = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })
      await Promise.race([Promise.allSettled(closers.map((each) => each())), deadline])
      // Acknowledgements have no reply, so they are flushed before the connection closes.
      if (isConnected) await Promise.race([connection?.flush().catch(() => {}), deadline])
      isConnected = false
      await connection?.close()
      await connecting
    }
  }
}
