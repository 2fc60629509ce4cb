import type { FastifyInstance } from 'fastify'
import type { startStores } from '../../../services/identity/test/stores.ts'

export type Stores = Awaited<ReturnType<typeof startStores>>

interface Purchase {
  store: 'APPLE' | 'GOOGLE' | 'REVENUECAT'
  /** Of Apple the id, of Google the purchase token, of RevenueCat the account token. */
  purchase: string
}

interface Order {
  store: Purchase['store']
  productId: string
  accountToken: string
  days?: number
}

const GRACE_DAYS = 3
const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1_000).toISOString()

/** What the stand-ins of the stores sell, and what happens to it then. Each change is notified, as the stores do. */
export function serveStores (app: FastifyInstance, { appStore, play, revenueCat }: Stores, webhooks: () => string) {
  app.post<{ Body: Order }>('/api/stores/buy', async ({ body: { store, ...order } }) => {
    const purchase = sell(store, order)
    const sent = store === 'APPLE'
      ? { signedTransaction: await appStore.signTransaction(purchase) }
      : store === 'GOOGLE'
      ? { purchaseToken: purchase }
      : {}
    return { purchase, ...sent, notified: await notify({ store, purchase }) }
  })

  app.post<{ Body: Purchase & { to: string } }>('/api/stores/change', async ({ body: { to, ...bought } }, reply) => {
    const change = changes[bought.store][to]
    if (!change) {
      return await reply.code(400).send({ error: `to must be one of ${Object.keys(changes[bought.store]).join(', ')}` })
    }
    change(bought.purchase)
    return { notified: await notify(bought, { isRefund: to === 'refund' }) }
  })

  function sell (store: Purchase['store'], order: Omit<Order, 'store'>) {
    if (store === 'APPLE') return appStore.buy(order)
    if (store === 'GOOGLE') return play.buy(order)
    revenueCat.buy(order.accountToken, order)
    return order.accountToken
  }

  const changes: Record<Purchase['store'], Record<string, (purchase: string) => unknown>> = {
    APPLE: {
      renew (id) {
        appStore.endPeriod(id)
        appStore.renew(id)
      },
      grace: (id) => failPayment(id, GRACE_DAYS),
      hold: (id) => failPayment(id),
      cancel: (id) => appStore.setAutoRenew(id, false),
      refund: (id) => appStore.refund(id),
      expire (id) {
        appStore.endPeriod(id)
        appStore.giveUp(id)
      }
    },
    GOOGLE: {
      renew: (token) => play.renew(token),
      grace: (token) => play.set(token, 'IN_GRACE_PERIOD'),
      hold: (token) => play.set(token, 'ON_HOLD'),
      pause: (token) => play.set(token, 'PAUSED'),
      cancel: (token) => play.set(token, 'CANCELED'),
      refund: (token) => play.set(token, 'CANCELED'),
      expire: (token) => play.set(token, 'EXPIRED')
    },
    REVENUECAT: {
      renew: (id) =>
        revenueCat.change(id, {
          expires_date: inDays(30),
          grace_period_expires_date: null,
          billing_issues_detected_at: null,
          unsubscribe_detected_at: null,
          refunded_at: null
        }),
      grace: (id) =>
        revenueCat.change(id, {
          expires_date: inDays(0),
          billing_issues_detected_at: inDays(0),
          grace_period_expires_date: inDays(GRACE_DAYS)
        }),
      hold: (id) =>
        revenueCat.change(id, {
          expires_date: inDays(0),
          billing_issues_detected_at: inDays(0),
          grace_period_expires_date: inDays(0)
        }),
      cancel: (id) => revenueCat.change(id, { unsubscribe_detected_at: inDays(0) }),
      refund: (id) => revenueCat.change(id, { refunded_at: inDays(0) }),
      expire: (id) => revenueCat.change(id, { expires_date: inDays(0), unsubscribe_detected_at: inDays(0) })
    }
  }

  /** Of the period after this one, which ends now. */
  function failPayment (id: string, graceDays?: number) {
    appStore.endPeriod(id)
    appStore.failPayment(id, graceDays)
  }

  /** Sends the notification of a store. @returns the status of the answer */
  async function notify (bought: Purchase, { isRefund = false } = {}) {
    const { path, headers = {}, body } = await createNotification(bought, isRefund)
    const { status } = await fetch(`${webhooks()}/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    return status
  }

  async function createNotification (
    { store, purchase }: Purchase,
    isRefund: boolean
  ): Promise<{ path: string, headers?: Record<string, string>, body: object }> {
    if (store === 'APPLE') {
      return { path: 'app-store', body: { signedPayload: await appStore.signNotification(purchase) } }
    }
    if (store === 'GOOGLE') {
      const about = isRefund
        ? { voidedPurchaseNotification: { purchaseToken: purchase, orderId: play.find(purchase).orderId } }
        : { subscriptionNotification: { purchaseToken: purchase } }
      return { path: 'google-play', ...await play.createPush(about) }
    }
    return { path: 'revenuecat', ...revenueCat.createEvent({ app_user_id: purchase }) }
  }
}
