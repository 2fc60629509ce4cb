import { createRpcClient, connectBus, startRelay } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createKeySet, createVerifiedKeyFetcher } from '@tandem/http-kit'
import { readConfig, run, serveMetrics } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createApp, startMessaging } from './app.ts'
import { Config } from './config.ts'
import type { Deps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import type { Tables } from './tables.ts'
import { createStatsCache } from './stats/cache.ts'

await run('dashboard', async (onClose, log) => {
  const config = readConfig(Config)

  const db = connect<Tables>(config.DATABASE_URL, { log })
  onClose(() => db.destroy())
  const bus = connectBus(config.NATS_URL, { service: 'dashboard', log })
  onClose(() => bus.close())

  const cache = createStatsCache(config.REDIS_URL, log)
  onClose(() => cache.close())

  const deps: Deps = { db, callRpc: createRpcClient(bus), cache, now: () => new Date() }
  const keys = createKeySet(
    createVerifiedKeyFetcher(() => deps.callRpc(SigningKeys, {}), config.IDENTITY_ROOT_PUBLIC_KEYS),
    log
  )
  onClose(() => keys.close())

  const relay = startRelay(bus, db)
  onClose(() => relay.stop())
  const consumers = startMessaging(bus, deps)
  onClose(() => consumers.stop())

  onClose(startHousekeeping(db, log))

  const app = await createApp(deps, {
    log,
    keys,
    trustProxy: config.TRUST_PROXY,
    checks: {
      postgres: { check: () => sql`select 1`.execute(db), required: true },
      nats: { check: async () => bus.current() !== undefined, required: false },
      redis: { check: () => cache.ready(), required: false }
    }
  })
  onClose(() => app.close())
  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(() => metrics.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
