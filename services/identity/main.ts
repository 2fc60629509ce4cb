import { createRpcClient, connectBus, startRelay } from '@tandem/bus-kit'
import { connect } from '@tandem/database-kit'
import { createMailer } from '@tandem/mail-kit'
import { createKeySet } from '@tandem/http-kit'
import { readConfig, run, serveMetrics } from '@tandem/process-kit'
import { sql } from 'kysely'
import { createApp, startMessaging } from './app.ts'
import { Config, providerSettings } from './config.ts'
import type { Deps } from './deps.ts'
import { startHousekeeping } from './housekeeping.ts'
import { ensureSigningKey } from './keys/actions.ts'
import { listPublicKeys } from './keys/queries.ts'
import { createKeySetSigner, readRootPrivateKey } from './keys/signed-keys.ts'
import { createIssuer } from './keys/tokens.ts'
import { createMailRequests } from './mails/requests.ts'
import { createBlocklist } from './passwords/blocklist.ts'
import { createHashing } from './passwords/hashing.ts'
import { createVerifier } from './providers/tokens.ts'
import type { Tables } from './tables.ts'
import { createSecrets } from './secrets.ts'

await run('identity', async (onClose, log) => {
  const config = readConfig(Config)
  const { DATABASE_URL, NATS_URL, REDIS_URL, SMTP_URL, MAIL_FROM, PUBLIC_URL } = config
  const rootKey = readRootPrivateKey(config.IDENTITY_ROOT_PRIVATE_KEY, config.IDENTITY_ROOT_PUBLIC_KEYS)

  const db = connect<Tables>(DATABASE_URL, { log })
  onClose(() => db.destroy())
  const bus = connectBus(NATS_URL, { service: 'identity', log })
  onClose(() => bus.close())

  const secrets = createSecrets(config.SECRET)
  await ensureSigningKey(db, secrets)
  const keys = createKeySet(() => listPublicKeys(db), log)
  onClose(() => keys.close())

  const mailer = createMailer({ db, service: 'identity', smtpUrl: SMTP_URL, redisUrl: REDIS_URL, from: MAIL_FROM, log })
  onClose(() => mailer.close())
  const mailRequests = createMailRequests({ db, secrets, mailer, redisUrl: REDIS_URL, publicUrl: PUBLIC_URL, log })
  onClose(() => mailRequests.close())

  const deps: Deps = {
    db,
    callRpc: createRpcClient(bus),
    secrets,
    hashing: await createHashing(),
    blocklist: createBlocklist(config.PASSWORD_BLOCKLIST),
    issueToken: createIssuer(db, secrets),
    signKeySet: createKeySetSigner(db, rootKey),
    providers: {
      PROVIDER_A: createVerifier(providerSettings(config, 'PROVIDER_A')),
      PROVIDER_B: createVerifier(providerSettings(config, 'PROVIDER_B'))
    },
    mailer,
    mailRequests
  }

  const relay = startRelay(bus, db)
  onClose(() => relay.stop())
  const consumers = startMessaging(bus, deps)
  onClose(() => consumers.stop())
  mailer.start()
  mailRequests.start()
  onClose(startHousekeeping(db, log))

  const app = await createApp(deps, {
    log,
    keys,
    trustProxy: config.TRUST_PROXY,
    checks: {
      postgres: { check: () => sql`select 1`.execute(db), required: true },
      nats: { check: async () => bus.current() !== undefined, required: false },
      redis: { check: () => mailer.ready(), required: false }
    }
  })
  onClose(() => app.close())
  const metrics = await serveMetrics(config.METRICS_PORT, config.HOST)
  onClose(() => metrics.close())
  await app.listen({ host: config.HOST, port: config.PORT })
})
