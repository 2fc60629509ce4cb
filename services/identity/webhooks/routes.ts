import Type from 'typebox'
import { Body, InvalidAccessToken, isUuid, NotFound, Secret, type Routes } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { InvalidPurchase } from '../errors.ts'
import { storeNotification } from './actions.ts'

const Received = Type.Object({ success: Type.Literal(true) })
const received = { success: true as const }
const MAX_BODY_BYTES = 64 * 1024
const id = Type.String({ minLength: 1, maxLength: 200, examples: ['2070443601311540'] })
const token = Type.String({ maxLength: 200, examples: ['5b0f4a1e-9a53-4d59-8b86-1f0c7c1f4f0e'] })
// More than RevenueCat names: what is refused is lost.
const tokens = Type.Optional(Type.Array(token, { maxItems: 1_000 }))

/** What Pub/Sub pushes of Google Play, as far as it matters. */
interface PlayNotification {
  packageName?: unknown
  subscriptionNotification?: { purchaseToken?: unknown }
  voidedPurchaseNotification?: { purchaseToken?: unknown, orderId?: unknown }
}

const MAX_TOKEN_LENGTH = 2_000

/**
 * What the stores call. None of it is believed: it is signed by Apple, or the store is asked what is new. It is written
 * down, answered, and handled afterwards: a store that gets no answer in time sends everything again.
 */
export const webhookRoutes: Routes<Deps> = async (app, deps) => {
  const { stores, storeNotifications } = deps
  const config = { public: true }

  app.post('/webhooks/app-store', {
    bodyLimit: MAX_BODY_BYTES,
    schema: {
      operationId: 'receiveAppStoreNotification',
      summary: 'Receive a notification of the App Store',
      description: 'For App Store Server Notifications, version 2.',
      'x-extension': true,
      body: Body({
        signedPayload: Secret({ max: MAX_BODY_BYTES, examples: ['eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlF…'] })
      }),
      errors: [NotFound, InvalidPurchase, Unavailable],
      response: { 200: Received }
    },
    config
  }, async ({ body }) => {
    if (!stores.apple) throw new NotFound()
    const notification = await stores.apple.readNotification(body.signedPayload)
    if (!notification) throw new InvalidPurchase()
    const { id, reading } = notification
    if (reading) await enqueue(await storeNotification(deps, { store: 'APPLE', id, content: reading }))
    return received
  })

  app.post('/webhooks/google-play', {
    bodyLimit: MAX_BODY_BYTES,
    schema: {
      operationId: 'receiveGooglePlayNotification',
      summary: 'Receive a notification of Google Play',
      description: 'For a push subscription of Cloud Pub/Sub with authentication.',
      'x-extension': true,
      body: Body({
        message: Body({
          messageId: id,
          data: Type.Optional(
            Type.String({ maxLength: MAX_BODY_BYTES, examples: ['eyJ2ZXJzaW9uIjoiMS4wIiwicGFja2FnZU5hbWUiOiJj…'] })
          )
        })
      }),
      errors: [NotFound, InvalidAccessToken, Unavailable],
      response: { 200: Received }
    },
    config
  }, async ({ headers, body: { message } }) => {
    if (!stores.google?.hasPush) throw new NotFound()
    if (!await stores.google.isOwnPush(headers.authorization)) throw new InvalidAccessToken()
    const { packageName, subscriptionNotification, voidedPurchaseNotification } = readPlayNotification(message.data)
    const token = (subscriptionNotification ?? voidedPurchaseNotification)?.purchaseToken
    const isOurs = packageName === stores.google.packageName && typeof token === 'string' &&
      token.length <= MAX_TOKEN_LENGTH
    if (!isOurs) return received
    const orderId = voidedPurchaseNotification?.orderId
    await enqueue(
      await storeNotification(deps, {
        store: 'GOOGLE',
        id: message.messageId,
        content: [token],
        voidedOrderId: typeof orderId === 'string' ? orderId : undefined
      })
    )
    return received
  })

  app.post('/webhooks/revenuecat', {
    bodyLimit: MAX_BODY_BYTES,
    schema: {
      operationId: 'receiveRevenueCatEvent',
      summary: 'Receive an event of RevenueCat',
      description: 'Its `Authorization` is `REVENUECAT_WEBHOOK_AUTHORIZATION`.',
      'x-extension': true,
      body: Body({
        event: Body({
          id,
          app_user_id: Type.Optional(token),
          aliases: tokens,
          transferred_from: tokens,
          transferred_to: tokens
        })
      }),
      errors: [NotFound, InvalidAccessToken],
      response: { 200: Received }
    },
    config
  }, async ({ headers, body: { event } }) => {
    if (!stores.revenuecat) throw new NotFound()
    if (!stores.revenuecat.isOwnWebhook(headers.authorization)) throw new InvalidAccessToken()
    const named = [
      event.app_user_id ?? '',
      ...event.aliases ?? [],
      ...event.transferred_from ?? [],
      ...event.transferred_to ?? []
    ]
    const subjects = [...new Set(named.map((each) => each.toLowerCase()).filter(isUuid))]
    if (subjects.length > 0) {
      await enqueue(await storeNotification(deps, { store: 'REVENUECAT', id: event.id, content: subjects }))
    }
    return received
  })

  async function enqueue (stored: string | undefined) {
    if (stored !== undefined) await storeNotifications.enqueue([stored])
  }
}

/** Other types than these two are about nothing that we keep. */
function readPlayNotification (data = ''): PlayNotification {
  try {
    const notification: unknown = JSON.parse(Buffer.from(data, 'base64').toString('utf8'))
    return typeof notification === 'object' && notification !== null ? notification : {}
  } catch {
    return {}
  }
}
