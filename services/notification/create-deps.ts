import { EventEmitter } from 'node:events'
import { createMediaUrls } from '@tandem/media-url-kit'
import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import type { Config } from './config.ts'
import { createHooks } from '@tandem/http-kit'
import { createMailer } from '@tandem/mail-kit'
import { readFourEyes } from '@tandem/operator-kit'
import { meetingMailOutcomes } from './meetings/outcomes.ts'
import { createPeopleLookup } from './people/lookup.ts'
import { FCM_CREDENTIAL, createFcm } from './push/fcm.ts'
import { createHookProvider } from './push/hook-provider.ts'
import { createLogProvider } from './push/log-provider.ts'
import { createPushQueue } from './push/create-push-queue.ts'
import { readCredential } from '@tandem/google-kit'
import { createNotificationErasure } from './erasure.ts'
import type { Tables } from './tables.ts'
import type { Deps } from './deps.ts'
import { createPoster } from './webhooks/poster.ts'
import { createWebhookQueue } from './webhooks/queue.ts'

export async function createDeps (
  { config, db, callRpc, publishSignal, log, onClose }: Resources<Type.Static<typeof Config>, Tables>
): Promise<Deps> {
  const hooks = createHooks(config.HOOKS, log)
  const mailer = createMailer({
    db,
    service: 'notification',
    smtpUrl: config.SMTP_URL,
    redisUrl: config.REDIS_URL,
    from: config.MAIL_FROM,
    log,
    provider: hooks.senderOf('send-mail'),
    outcomes: meetingMailOutcomes
  })
  onClose(() => mailer.close())
  const mediaUrls = createMediaUrls(config.CDN_URL)
  const findPeople = createPeopleLookup({ db, callRpc, mediaUrls })
  const credentialFile = config.FCM_SERVICE_ACCOUNT_FILE
  const sendPush = hooks.senderOf('send-push')
  const provider = sendPush
    ? createHookProvider(sendPush)
    : credentialFile
    ? createFcm({ baseUrl: config.FCM_BASE_URL, credential: await readCredential(credentialFile, FCM_CREDENTIAL) })
    : createLogProvider(log)
  const pushes = createPushQueue({ db, callRpc, findPeople, provider, redisUrl: config.REDIS_URL, log })
  onClose(() => pushes.close())
  const webhookPrivateHosts = new Set(config.WEBHOOK_PRIVATE_HOSTS)
  const poster = createPoster({ privateHosts: webhookPrivateHosts })
  const webhooks = createWebhookQueue({ db, poster, redisUrl: config.REDIS_URL, log })
  onClose(() => webhooks.close())

  return {
    db,
    callRpc,
    findPeople,
    mediaUrls,
    mailer,
    publicUrl: config.PUBLIC_URL,
    pushes,
    webhooks,
    webhookPrivateHosts,
    likeDigestMs: config.LIKES_GATHER_SECONDS * 1_000,
    now: () => new Date(),
    arrivals: new EventEmitter(),
    erasure: createNotificationErasure({ db, callRpc }),
    fourEyes: readFourEyes(config.FOUR_EYES),
    wakeUp: publishSignal,
    log
  }
}

/** Starts the workers of the queues; closing them stops the workers. */
export function startQueues ({ mailer, pushes, webhooks }: Deps) {
  mailer.start()
  pushes.start()
  webhooks.start()
}
