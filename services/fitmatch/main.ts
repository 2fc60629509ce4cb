import { createRpcClient, connectBus, startRelay } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createMedia } from '@tandem/media-kit'
import { createKeySet, createVerifiedKeyFetcher } from '@tandem/http-kit'
import { readConfig, run, serveMetrics } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createApp, startMessaging } from './app.ts'
import { Config, createStores } from './config.ts'
import type { Deps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import type { Tables } from './tables.ts'

await run('fitmatch', async (onClose, log) => {
  const config = readConfig(Config)
  const stores = createStores(config)

  const db = connect<Tables>(config.DATABASE_URL, { log })
  onClose(() => db.destroy())
  const bus = connectBus(config.NATS_URL, { service: 'fitmatch', log })
  onClose(() => bus.close())

  const deps: Deps = {
    db,
    callRpc: createRpcClient(bus),
    media: createMedia({
      storage: stores.media,
      cdnUrl: config.CDN_URL,
      ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN,
      signingKey: config.MEDIA_SIGNING_KEY
    }),
    selfies: stores.selfies,
    minAge: config.MIN_AGE
  }
  const keys = createKeySet(
    createVerifiedKeyFetcher(() => deps.callRpc(SigningKeys, {}), config.IDENTITY_ROOT_PUBLIC_KEYS),
    log
  )
  onClose(() => keys.close())

  const relay = startRelay(bus, db)
  onClose(() => relay.stop())
  const consumers = startMessaging(bus, deps)
  onClose(() => consumers.stop())
  onClose(startHousekeeping(deps, log))

  const app = await createApp(deps, {
    log,
    keys,
    trustProxy: config.TRUST_PROXY,
    checks: {
      postgres: { check: () => sql`select 1`.execute(db), required: true },
      nats: { check: async () => bus.current() !== undefined, required: false }
    }
  })
  onClose(() => app.close())
  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(() => metrics.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
