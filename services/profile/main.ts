import { createRpcClient, connectBus, startRelay } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createMedia, createStorage } from '@tandem/media-kit'
import { createKeySet, createVerifiedKeyFetcher } from '@tandem/http-kit'
import { readConfig, run, serveMetrics } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createApp, startMessaging } from './app.ts'
import { Config } from './config.ts'
import type { Deps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { createAccountLookup } from './people/accounts.ts'
import { readEdition } from './places/queries.ts'
import { loadPlaces } from './places/seed.ts'
import type { Tables } from './tables.ts'

await run('profile', async (onClose, log) => {
  const config = readConfig(Config)

  const db = connect<Tables>(config.DATABASE_URL, { log })
  onClose(() => db.destroy())
  const bus = connectBus(config.NATS_URL, { service: 'profile', log })
  onClose(() => bus.close())

  const callRpc = createRpcClient(bus)
  const deps: Deps = {
    db,
    findAccounts: createAccountLookup(callRpc),
    media: createMedia({
      storage: createStorage(config),
      cdnUrl: config.CDN_URL,
      ownUrlsOnly: config.MEDIA_URLS_ONLY_OWN
    })
  }
  const keys = createKeySet(
    createVerifiedKeyFetcher(() => callRpc(SigningKeys, {}), config.IDENTITY_ROOT_PUBLIC_KEYS),
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
      // The places are loaded once per edition, after the start.
      places: { check: async () => await readEdition(db), required: true },
      nats: { check: async () => bus.current() !== undefined, required: false }
    }
  })
  onClose(() => app.close())
  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(() => metrics.close())
  await app.listen({ host: config.HOST, port: config.PORT })
  await loadPlaces(db)
})
