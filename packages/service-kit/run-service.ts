import type { Kysely } from 'kysely'
import type { Static, TObject } from 'typebox'
import { readBrand } from '@tandem/brand-kit'
import {
  checkStream,
  connectBus,
  createRpcClient,
  publishSignal,
  startConsumers,
  startRelay,
  startRpcHandlers,
  type Bus,
  type CallRpc,
  type FailedMessageTables,
  type Handler,
  type OutboxTables,
  type ProcessedEventTables,
  type RpcHandler
} from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { checkWritable, connect, watchDisk } from '@tandem/database-kit'
import {
  createKeySet,
  createVerifiedKeyFetcher,
  type PublishedKeys,
  type Server,
  type ServerOptions
} from '@tandem/http-kit'
import { readConfig, run, serveMetrics, withTimeout, type HealthChecks, type Log } from '@tandem/process-kit'
import type { ServiceEnvironment } from './environment.ts'
import type { BackgroundWork } from './features.ts'

/** The dependencies of a service have its database, in which every service has the tables of bus-kit. */
interface ServiceDeps {
  db: Kysely<OutboxTables & ProcessedEventTables & FailedMessageTables>
}

/** What a service makes its dependencies from. */
export interface Resources<Config, Tables> {
  config: Config
  db: Kysely<Tables>
  callRpc: CallRpc
  /** Sends a realtime signal to all gateways. It may be lost. */
  publishSignal: (signal: unknown) => void
  log: Log
  /** Registers a function that closes a resource; see `run`. */
  onClose: (close: () => unknown) => void
}

export interface Service<Schema extends TObject<typeof ServiceEnvironment>, Tables, Deps extends ServiceDeps> {
  name: string
  config: Schema
  /** Opens what is this service's own. @throws ConfigError */
  createDeps: (resources: Resources<NoInfer<Static<Schema>>, Tables>) => Deps | Promise<Deps>
  createApp: (deps: Deps, options: Omit<ServerOptions, 'name'>) => Promise<Server>
  consumers: (deps: Deps) => Handler[]
  rpc?: (deps: Deps) => RpcHandler[]
  /** Work that starts before the server listens; each returns a function that stops it, or nothing. */
  background: BackgroundWork<Deps>[]
  /** Health checks besides Postgres and NATS. */
  checks?: (deps: Deps) => HealthChecks
  /** The keys that verify access tokens; by default they are fetched from identity and verified. */
  fetchKeys?: (deps: Deps) => Promise<PublishedKeys>
}

// A service starts without the broker as well, this much later.
const FIRST_CONNECTION_MS = 1_000

async function untilConnected (bus: Bus) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = bus.onConnect(() => resolve())
  await promise
  stop()
}

/**
 * Runs a service. It opens its resources in this order and closes them in reverse: database, bus, dependencies, keys,
 * relay, RPC handlers, consumers, background work, server, metrics. So a closing service first completes its requests,
 * and publishes what they wrote until the database is closed. It starts without the broker, and waits for it.
 */
export async function runService<
  Schema extends TObject<typeof ServiceEnvironment>,
  Tables,
  Deps extends ServiceDeps
> (service: Service<Schema, Tables, Deps>): Promise<void> {
  const { name } = service
  await run(name, async (onClose, log) => {
    // First: a faulty brand refuses the start.
    readBrand()
    const config = readConfig(service.config)
    const {
      HOST,
      PORT,
      METRICS_PORT,
      TRUST_PROXY,
      MAX_EVENT_LOOP_DELAY_MS,
      DATABASE_URL,
      NATS_URL,
      IDENTITY_ROOT_PUBLIC_KEYS
    } = config

    const disk = watchDisk()
    const db = connect<Tables>(DATABASE_URL, { log, onError: disk.onError })
    onClose(() => db.destroy())
    const bus = connectBus(NATS_URL, { service: name, log })
    onClose(() => bus.close())
    // Otherwise each start would log that the first calls have failed.
    await withTimeout(FIRST_CONNECTION_MS, untilConnected(bus)).catch(() => {})
    const callRpc = createRpcClient(bus)
    const deps = await service.createDeps({
      config,
      db,
      callRpc,
      publishSignal: (signal) => publishSignal(bus, signal),
      log,
      onClose
    })

    const { fetchKeys } = service
    const keys = createKeySet(
      fetchKeys
        ? () => fetchKeys(deps)
        : createVerifiedKeyFetcher(() => callRpc(SigningKeys, {}), IDENTITY_ROOT_PUBLIC_KEYS),
      log
    )
    onClose(() => keys.close())

    const relay = startRelay(bus, deps.db)
    onClose(() => relay.stop())
    if (service.rpc) startRpcHandlers(bus, service.rpc(deps))
    const consumers = startConsumers(bus, deps.db, service.consumers(deps))
    onClose(() => consumers.stop())
    for (const start of service.background) {
      const stop = start(deps, log)
      if (stop) onClose(stop)
    }

    const checks: HealthChecks = {
      // A lock, because a standby would answer a read.
      postgres: {
        check: async () =>
          await checkWritable(() => deps.db.selectFrom('outbox').select('id').limit(0).forUpdate().execute()),
        required: true
      },
      // Reads go on.
      'postgres.disk': { check: disk.check, required: false },
      nats: { check: async () => bus.current() !== undefined, required: false },
      ...checkStream(bus),
      ...keys.checks,
      ...service.checks?.(deps)
    }
    const app = await service.createApp(deps, {
      log,
      keys,
      trustProxy: TRUST_PROXY,
      maxEventLoopDelayMs: MAX_EVENT_LOOP_DELAY_MS,
      checks
    })
    onClose(() => app.close())
    const metrics = await serveMetrics(METRICS_PORT, HOST)
    onClose(() => metrics.close())
    await app.listen({ host: HOST, port: PORT })
  })
}
