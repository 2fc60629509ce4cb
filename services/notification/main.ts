import { createRpcClient, connectBus, startRelay } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import { connect } from '@tandem/database-kit'
import { createMailer } from '@tandem/mail-kit'
import { createKeySet, createVerifiedKeyFetcher } from '@tandem/http-kit'
import { readConfig, run, serveMetrics } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createApp, startMessaging } from './app.ts'
import { startBroadcasting } from './broadcasts/actions.ts'
import { Config } from './config.ts'
import type { Deps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { readCredential } from './push/credential.ts'
import { createFcm } from './push/fcm.ts'
import { createLogProvider } from './push/log-provider.ts'
import { createPeopleLookup } from './people/lookup.ts'
import { createPushQueue } from './push/create-push-queue.ts'
import type { Tables } from './tables.ts'

await run('notification', async (onClose, log) => {
  const config = readConfig(Config)

  const db = connect<Tables>(config.DATABASE_URL, { log })
  onClose(() => db.destroy())
  const bus = connectBus(config.NATS_URL, { service: 'notification', log })
  onClose(() => bus.close())

  const mailer = createMailer({
    db,
    service: 'notification',
    smtpUrl: config.SMTP_URL,
    redisUrl: config.REDIS_URL,
    from: config.MAIL_FROM,
    log
  })
  onClose(() => mailer.close())
  const callRpc = createRpcClient(bus)
  const findPeople = createPeopleLookup({ db, callRpc })
  const credentialFile = config.FCM_SERVICE_ACCOUNT_FILE
  const provider = credentialFile
    ? createFcm({ baseUrl: config.FCM_BASE_URL, credential: await readCredential(credentialFile) })
    : createLogProvider(log)
  const pushes = createPushQueue({ db, findPeople, provider, redisUrl: config.REDIS_URL, log })
  onClose(() => pushes.close())

  const deps: Deps = {
    db,
    callRpc,
    findPeople,
    mailer,
    pushes,
    likeDigestMs: config.LIKES_GATHER_SECONDS * 1_000,
    now: () => new Date()
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
  mailer.start()
  pushes.start()
  onClose(startBroadcasting(deps, log))
  onClose(startHousekeeping(db, log))

  const app = await createApp(deps, {
    log,
    keys,
    trustProxy: config.TRUST_PROXY,
    checks: {
      postgres: { check: () => sql`select 1`.execute(db), required: true },
      nats: { check: async () => bus.current() !== undefined, required: false },
      redis: { check: () => pushes.ping(), required: false }
    }
  })
  onClose(() => app.close())
  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(() => metrics.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
