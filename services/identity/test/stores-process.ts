// The three stores on this machine, for `npm start`: prints the variables with which identity uses them, then sells.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import type { PlayState } from './google-play.ts'
import { startStores } from './stores.ts'

const CONTROL_PORT = 9_700
const [webhooks = 'http://localhost:8080/api/mobile/v1/webhooks'] = process.argv.slice(2)
const { appStore, play, revenueCat, variables } = await startStores({ teardown () {} }, {
  clock: () => new Date(),
  port: CONTROL_PORT + 1
})

interface Request {
  store?: 'APPLE' | 'GOOGLE' | 'REVENUECAT'
  productId?: string
  accountToken?: string
  days?: number
  /** Of Apple the id, of Google the purchase token, of RevenueCat the account token. */
  purchase?: string
  to?: string
}

/** What happens to a subscription at the App Store. */
const appleChanges: Record<string, (id: string) => unknown> = {
  renew: (id) => appStore.renew(id),
  grace: (id) => appStore.failPayment(id, 3),
  hold: (id) => appStore.failPayment(id),
  cancel: (id) => appStore.setAutoRenew(id, false),
  refund: (id) => appStore.refund(id),
  expire: (id) => appStore.giveUp(id)
}
const playStates: Record<string, PlayState> = {
  grace: 'IN_GRACE_PERIOD',
  hold: 'ON_HOLD',
  pause: 'PAUSED',
  cancel: 'CANCELED',
  expire: 'EXPIRED'
}

/** Sells something, and says so. @returns what the app would get from the store */
async function buy ({ store, productId = '', accountToken = '', days = 30 }: Request) {
  const named = { productId, days, ...(accountToken && { accountToken }) }
  if (store === 'APPLE') {
    const purchase = appStore.buy(named)
    const signedTransaction = await appStore.signTransaction(purchase)
    return { purchase, signedTransaction, notified: await notify({ store, purchase }) }
  }
  if (store === 'GOOGLE') {
    const purchase = play.buy(named)
    return { purchase, notified: await notify({ store, purchase }) }
  }
  revenueCat.buy(accountToken, { productId, days })
  return { notified: await notify({ store: 'REVENUECAT', purchase: accountToken }) }
}

/** Changes what was sold, and says so. */
async function change ({ store, purchase = '', to = '' }: Request) {
  if (store === 'APPLE') appleChanges[to]?.(purchase)
  if (store === 'GOOGLE') {
    const state = playStates[to]
    if (state) play.set(purchase, state)
    else if (to === 'renew') play.renew(purchase)
  }
  return { notified: await notify({ ...(store && { store }), purchase }) }
}

/** Sends the notification of a store. @returns the status of the answer */
async function notify ({ store, purchase = '' }: Request) {
  const [path, { headers = {}, body }] = await createNotification()
  const { status } = await fetch(`${webhooks}/${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return status

  async function createNotification (): Promise<[path: string, { headers?: Record<string, string>, body: object }]> {
    if (store === 'APPLE') return ['app-store', { body: { signedPayload: await appStore.signNotification(purchase) } }]
    if (store === 'GOOGLE') {
      return ['google-play', await play.createPush({ subscriptionNotification: { purchaseToken: purchase } })]
    }
    return ['revenuecat', revenueCat.createEvent({ app_user_id: purchase })]
  }
}

const routes: Record<string, (request: Request) => Promise<object>> = { '/buy': buy, '/change': change }

createServer((request, response) => {
  void (async () => {
    const route = routes[request.url ?? '']
    if (request.method !== 'POST' || !route) return response.writeHead(404).end()
    const answer = await route(await json(request) as Request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })().catch((error: unknown) => response.writeHead(400).end(String(error)))
}).listen(CONTROL_PORT, '127.0.0.1')

for (const [name, value] of Object.entries(variables)) console.log(`export ${name}='${value}'`)
console.error(`The stores listen. Sell with POST http://127.0.0.1:${CONTROL_PORT}/buy, change with /change.`)
