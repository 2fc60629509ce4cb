import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, jwtVerify, SignJWT } from 'jose'

const DAY_MS = 24 * 60 * 60 * 1_000

/** A purchase at the stand-in. */
export interface PlayPurchase {
  token: string
  productId: string
  accountToken: string | undefined
  state: string
  startedAt: number
  expiresAt: number
  autoRenews: boolean
  isAcknowledged: boolean
  orderId: string
  linkedToken: string | undefined
  isTest: boolean
  /** What Google says differently of it. */
  changes: { lineItems?: object[], outOfAppPurchaseContext?: object }
}

const states = [
  'ACTIVE',
  'CANCELED',
  'IN_GRACE_PERIOD',
  'ON_HOLD',
  'PAUSED',
  'EXPIRED',
  'PENDING',
  'PENDING_PURCHASE_CANCELED'
] as const
export type PlayState = typeof states[number]

/**
 * A stand-in for Google Play: the exchange of a service account's assertion for a token, subscriptionsv2, acknowledge, and
 * the keys and pushes of Pub/Sub.
 */
export async function startGooglePlay ({ clock }: { clock: () => Date }) {
  const packageName = 'com.example.tandem'
  const account = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const signing = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const accessTokens = new Set<string>()
  const purchases = new Map<string, PlayPurchase>()
  const state = { isAway: false, hangs: false, calls: 0, acknowledged: [] as string[] }
  const push = {
    audience: 'https://tandem.example/webhooks/google-play',
    email: 'push@stand-in.iam.gserviceaccount.com'
  }
  const jwk = { ...await exportJWK(signing.publicKey), kid: 'one', alg: 'RS256', use: 'sig' }

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const prefix = `/androidpublisher/v3/applications/${packageName}/purchases`
  const now = () => clock().getTime()

  async function answer (request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    if (request.url === '/certs') return reply(response, 200, { keys: [jwk] })
    if (request.url === '/token') return await exchange(body, response)
    state.calls++
    if (state.hangs) return
    if (state.isAway) return reply(response, 503, {})
    if (!accessTokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) return reply(response, 401, {})
    const [, path = ''] = (request.url ?? '').split(prefix)
    const read = /^\/subscriptionsv2\/tokens\/([^/]+)$/.exec(path)?.[1]
    if (read) {
      const purchase = purchases.get(decodeURIComponent(read))
      return purchase ? reply(response, 200, describe(purchase)) : reply(response, 404, {})
    }
    const [, product, token = ''] = /^\/subscriptions\/([^/]+)\/tokens\/([^/]+):acknowledge$/.exec(path) ?? []
    const purchase = purchases.get(decodeURIComponent(token))
    if (request.method !== 'POST' || !purchase || purchase.productId !== product) return reply(response, 404, {})
    purchase.isAcknowledged = true
    delete purchase.changes.outOfAppPurchaseContext
    state.acknowledged.push(purchase.token)
    reply(response, 200, {})
  }

  async function exchange (body: string, response: ServerResponse) {
    if (state.isAway) return reply(response, 503, {})
    const assertion = new URLSearchParams(body).get('assertion') ?? ''
    const { payload } = await jwtVerify(assertion, account.publicKey, { audience: `${url}/token` })
    if (payload['scope'] !== 'https://www.googleapis.com/auth/androidpublisher') return reply(response, 403, {})
    const token = randomBytes(16).toString('hex')
    accessTokens.add(token)
    reply(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 3_600 })
  }

  const describe = (each: PlayPurchase) => ({
    kind: 'androidpublisher#subscriptionPurchaseV2',
    startTime: new Date(each.startedAt).toISOString(),
    subscriptionState: `SUBSCRIPTION_STATE_${each.state}`,
    latestOrderId: each.orderId,
    acknowledgementState: `ACKNOWLEDGEMENT_STATE_${each.isAcknowledged ? 'ACKNOWLEDGED' : 'PENDING'}`,
    ...(each.linkedToken !== undefined && { linkedPurchaseToken: each.linkedToken }),
    ...(each.accountToken !== undefined && {
      externalAccountIdentifiers: { obfuscatedExternalAccountId: each.accountToken }
    }),
    ...(each.isTest && { testPurchase: {} }),
    lineItems: [{
      productId: each.productId,
      expiryTime: new Date(each.expiresAt).toISOString(),
      latestSuccessfulOrderId: each.orderId,
      autoRenewingPlan: { autoRenewEnabled: each.autoRenews }
    }],
    ...each.changes
  })
  const reply = (response: ServerResponse, status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const find = (token: string) => {
    const found = purchases.get(token)
    if (!found) throw new Error('there is no such purchase')
    return found
  }

  return {
    url,
    state,
    push,
    packageName,
    serviceAccount: {
      type: 'service_account',
      project_id: 'stand-in',
      client_email: 'play@stand-in.iam.gserviceaccount.com',
      private_key: account.privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${url}/token`
    },
    find,
    buy (
      { productId, accountToken, days = 30, linkedToken, isTest = false, state = 'ACTIVE' }: {
        productId: string,
        accountToken?: string,
        days?: number,
        linkedToken?: string,
        isTest?: boolean,
        state?: PlayState
      }
    ) {
      const token = randomBytes(60).toString('base64url')
      purchases.set(token, {
        token,
        productId,
        accountToken,
        state,
        startedAt: now(),
        expiresAt: now() + days * DAY_MS,
        autoRenews: true,
        isAcknowledged: false,
        orderId: newOrderId(),
        linkedToken,
        isTest,
        changes: {}
      })
      if (linkedToken !== undefined) {
        Object.assign(find(linkedToken), { state: 'EXPIRED', autoRenews: false, expiresAt: now() })
      }
      return token
    },
    renew (token: string, days = 30) {
      const purchase = find(token)
      const from = purchase.state === 'ACTIVE' ? purchase.expiresAt : now()
      Object.assign(purchase, {
        state: 'ACTIVE',
        autoRenews: true,
        expiresAt: from + days * DAY_MS,
        orderId: newOrderId()
      })
    },
    /** Moves the purchase into a state, with what Google changes then. */
    set (token: string, to: PlayState, { graceDays = 3 } = {}) {
      const purchase = find(token)
      purchase.state = to
      if (to === 'CANCELED' || to === 'EXPIRED') purchase.autoRenews = false
      // These begin when a period is over.
      if (['IN_GRACE_PERIOD', 'ON_HOLD', 'PAUSED', 'EXPIRED'].includes(to)) {
        purchase.expiresAt = Math.min(purchase.expiresAt, now())
      }
      if (to === 'IN_GRACE_PERIOD') purchase.expiresAt += graceDays * DAY_MS
    },
    /** The request of Pub/Sub that says that a purchase has changed. */
    async createPush (
      notification: object,
      { claims = {}, messageId = randomUUID(), packageName: named = packageName, expiresInSeconds = 300 } = {}
    ) {
      const token = await new SignJWT({
        email: push.email,
        email_verified: true,
        aud: push.audience,
        iss: 'https://accounts.google.com',
        ...claims
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' }).setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1_000) + expiresInSeconds).sign(signing.privateKey)
      const data = { version: '1.0', packageName: named, eventTimeMillis: String(now()), ...notification }
      return {
        headers: { authorization: `Bearer ${token}` },
        body: {
          message: { messageId, data: Buffer.from(JSON.stringify(data)).toString('base64') },
          subscription: 'projects/stand-in/subscriptions/play'
        }
      }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

const newOrderId = () => `GPA.${randomBytes(8).readBigUInt64BE().toString().padStart(20, '0')}`
