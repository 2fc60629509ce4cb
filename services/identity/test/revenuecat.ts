import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const DAY_MS = 24 * 60 * 60 * 1_000

type Subscriptions = Record<string, Record<string, string | boolean | null>>

/** A stand-in for RevenueCat: subscribers by their app user id, and what its webhook sends. */
export async function startRevenueCat ({ clock }: { clock: () => Date }) {
  const secretKey = `sk_${randomUUID()}`
  const webhookAuthorization = `Bearer ${randomUUID()}`
  const subscribers = new Map<string, Subscriptions>()
  const state = { isAway: false, isEmpty: false, calls: 0 }

  const server = createServer((request, response) => {
    state.calls++
    const id = /^\/v1\/subscribers\/([^/]+)$/.exec(request.url ?? '')?.[1]
    const status = state.isAway ? 503 : request.headers.authorization !== `Bearer ${secretKey}` ? 401 : id ? 200 : 404
    response.writeHead(status, { 'content-type': 'application/json' })
    const subscriber = { original_app_user_id: id, subscriptions: subscribers.get(id ?? '') ?? {} }
    response.end(JSON.stringify(state.isEmpty ? {} : { subscriber }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const at = (days: number) => new Date(clock().getTime() + days * DAY_MS).toISOString()

  return {
    url,
    state,
    secretKey,
    webhookAuthorization,
    buy (
      id: string,
      { productId, days = 30, isSandbox = false }: { productId: string, days?: number, isSandbox?: boolean }
    ) {
      subscribers.set(id, {
        ...subscribers.get(id),
        [productId]: {
          purchase_date: at(0),
          expires_date: at(days),
          is_sandbox: isSandbox,
          store: 'app_store',
          period_type: 'normal',
          store_transaction_id: `4${Date.now()}`
        }
      })
    },
    /** Changes everything that a person has. */
    change (id: string, changes: Subscriptions[string]) {
      for (const each of Object.values(subscribers.get(id) ?? {})) Object.assign(each, changes)
    },
    /** The period of one subscription is over, and it does not renew. */
    expire: (id: string, productId: string) =>
      Object.assign(subscribers.get(id)?.[productId] ?? {}, {
        expires_date: at(-2),
        unsubscribe_detected_at: at(-2)
      }),
    /** Everything of one person belongs to another one now. */
    transfer (from: string, to: string) {
      subscribers.set(to, subscribers.get(from) ?? {})
      subscribers.delete(from)
    },
    createEvent: (fields: object, { authorization = webhookAuthorization, id = randomUUID() } = {}) => ({
      headers: { authorization },
      body: { api_version: '1.0', event: { id, type: 'RENEWAL', ...fields } }
    }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
