import { createMediaUrls } from '@tandem/media-url-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { providerClientSettings, providerSettings, type Config } from './config.ts'
import { createHooks } from '@tandem/http-kit'
import { createMailer } from '@tandem/mail-kit'
import { untilAvailable } from '@tandem/process-kit'
import { readFourEyes } from '@tandem/operator-kit'
import { createIdentityErasure } from './erasure.ts'
import { createLedger } from './erasures/ledger.ts'
import { ensureSigningKey } from './keys/actions.ts'
import { createKeySetSigner, readRootPrivateKey } from './keys/signed-keys.ts'
import { createMailRequests } from './mails/requests.ts'
import { metricSources } from './metrics.ts'
import { createBlocklist } from './passwords/blocklist.ts'
import { createHashing } from './passwords/hashing.ts'
import { createVerifier } from './providers/tokens.ts'
import { createProviderClient } from './revocations/provider-client.ts'
import { createFileReader, createPrivateStorage } from './storages.ts'
import { readConsoleSettings } from './staff/settings.ts'
import type { Tables } from './tables.ts'
import { createSecrets } from './secrets.ts'
import type { Deps } from './deps.ts'
import { createStores } from './stores/settings.ts'
import { subscriptionSettings } from './subscriptions/settings.ts'
import { createNotificationQueue } from './webhooks/queue.ts'

/** @throws ConfigError */
export async function createDeps (
  { config, db, callRpc, log, onClose }: Resources<Type.Static<typeof Config>, Tables>
): Promise<Deps> {
  const { REDIS_URL, SMTP_URL, MAIL_FROM, PUBLIC_URL } = config
  metricSources.add({ service: 'identity', db })
  const rootKey = readRootPrivateKey(config.IDENTITY_ROOT_PRIVATE_KEY, config.IDENTITY_ROOT_PUBLIC_KEYS)
  const providers = {
    PROVIDER_A: createVerifier(providerSettings(config, 'PROVIDER_A')),
    PROVIDER_B: createVerifier(providerSettings(config, 'PROVIDER_B'))
  }
  const clientSettings = providerClientSettings(config)

  const secrets = createSecrets(config.SECRET)
  await untilAvailable(async () => await ensureSigningKey(db, secrets), log)

  const hooks = createHooks(config.HOOKS, log)
  const mailer = createMailer({
    db,
    service: 'identity',
    smtpUrl: SMTP_URL,
    redisUrl: REDIS_URL,
    from: MAIL_FROM,
    log,
    provider: hooks.senderOf('send-mail')
  })
  onClose(() => mailer.close())
  const mailRequests = createMailRequests({ db, secrets, mailer, redisUrl: REDIS_URL, publicUrl: PUBLIC_URL, log })
  onClose(() => mailRequests.close())

  const clock = () => new Date()
  const subscriptions = subscriptionSettings(config)
  const stores = await createStores(config, { subscriptions, clock, log })
  const storeNotifications = createNotificationQueue({
    deps: { db, secrets, stores, subscriptions, clock, mailer },
    redisUrl: REDIS_URL,
    log
  })
  onClose(() => storeNotifications.close())

  const privateStorage = createPrivateStorage(config)
  return {
    db,
    callRpc,
    hooks,
    secrets,
    hashing: await createHashing(),
    blocklist: createBlocklist(config.PASSWORD_BLOCKLIST),
    console: readConsoleSettings(config.CONSOLE_URL),
    fourEyes: readFourEyes(config.FOUR_EYES),
    signKeySet: createKeySetSigner(db, rootKey),
    providers,
    providerClient: clientSettings && createProviderClient(clientSettings, providers.PROVIDER_B),
    stores,
    subscriptions,
    clock,
    storeNotifications,
    mailer,
    mailRequests,
    ledger: createLedger(privateStorage),
    privateStorage,
    readFile: createFileReader(config),
    erasure: createIdentityErasure({ db, secrets, mailer, privateStorage }),
    mediaUrls: createMediaUrls(config.CDN_URL),
    publicUrl: PUBLIC_URL,
    graceDays: config.DELETION_GRACE_DAYS,
    referralRewardDays: config.REFERRAL_REWARD_DAYS
  }
}

/** Starts the workers of the queues; closing them stops the workers. */
export function startQueues ({ mailer, mailRequests, storeNotifications }: Deps) {
  mailer.start()
  storeNotifications.start()
  mailRequests.start()
}
