import { generateKeyPairSync, randomInt, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { CompactSign, importPKCS8, jwtVerify } from 'jose'
import { answerOcsp, createChain, type Certificate, type Chain } from './certificates.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** A subscription at the stand-in. */
export interface AppleSubscription {
  id: string
  transactionId: string
  productId: string
  accountToken: string | undefined
  purchasedAt: number
  expiresAt: number
  autoRenews: boolean
  graceUntil: number | undefined
  isInBillingRetry: boolean
  expirationIntent: number | undefined
  revokedAt: number | undefined
  isFamilyShared: boolean
  environment: string
}

/** How a signature can be wrong. */
export interface Signing {
  chain?: Chain
  certificates?: Certificate[]
  header?: object
}

/**
 * A stand-in for the App Store: it signs with its own root, answers OCSP for it, and serves the statuses of subscriptions
 * to who sends a bearer that our key signed.
 */
export async function startAppStore ({ clock }: { clock: () => Date }) {
  const [bundleId, appId] = ['com.example.tandem', 4_711]
  const api = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuerId = randomUUID()
  const keyId = 'STANDIN001'
  const subscriptions = new Map<string, AppleSubscription>()
  const revoked = new Set<Certificate>()
  const state = {
    isAway: false,
    isOcspAway: false,
    ocspHangs: false,
    notFoundCode: undefined as number | undefined,
    calls: 0
  }

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const chains = [createChain({ ocspUrl: `${url}/ocsp` })]
  const [chain] = chains as [Chain]

  async function answer (request: IncomingMessage, response: ServerResponse) {
    if (request.url?.startsWith('/ocsp')) {
      const body = await buffer(request)
      if (state.ocspHangs) return
      const answered = state.isOcspAway ? undefined : answerOcsp(chains, body, revoked)
      response.writeHead(answered ? 200 : 503, { 'content-type': 'application/ocsp-response' }).end(answered)
      return
    }
    state.calls++
    if (state.isAway) return response.writeHead(503).end()
    const id = /^\/inApps\/v1\/subscriptions\/(\w+)/.exec(request.url ?? '')?.[1]
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? ''
    try {
      const { protectedHeader, payload } = await jwtVerify(bearer, api.publicKey, {
        issuer: issuerId,
        audience: 'appstoreconnect-v1',
        algorithms: ['ES256']
      })
      if (protectedHeader.kid !== keyId || payload['bid'] !== bundleId) throw new Error('another app')
    } catch {
      return response.writeHead(401).end()
    }
    const found = state.notFoundCode === undefined ? subscriptions.get(id ?? '') : undefined
    if (!found) return reply(response, 404, { errorCode: state.notFoundCode ?? 4_040_010, errorMessage: 'Not found.' })
    reply(response, 200, {
      bundleId,
      appAppleId: appId,
      environment: found.environment,
      data: [{
        subscriptionGroupIdentifier: '1',
        lastTransactions: [{
          originalTransactionId: found.id,
          status: statusOf(found),
          signedTransactionInfo: await sign(transactionOf(found)),
          signedRenewalInfo: await sign(renewalOf(found))
        }]
      }]
    })
  }

  function reply (response: ServerResponse, status: number, body: object) {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  async function sign (payload: object, { chain: other = chain, certificates, header = {} }: Signing = {}) {
    const x5c = (certificates ?? [other.leaf, other.intermediate, other.root]).map(({ base64 }) => base64)
    return await new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'ES256', x5c, ...header })
      .sign(await importPKCS8(other.leaf.privateKey, 'ES256'))
  }

  const now = () => clock().getTime()
  const transactionOf = (each: AppleSubscription) => ({
    transactionId: each.transactionId,
    originalTransactionId: each.id,
    bundleId,
    productId: each.productId,
    purchaseDate: each.purchasedAt,
    originalPurchaseDate: each.purchasedAt,
    expiresDate: each.expiresAt,
    type: 'Auto-Renewable Subscription',
    inAppOwnershipType: each.isFamilyShared ? 'FAMILY_SHARED' : 'PURCHASED',
    ...(each.accountToken !== undefined && { appAccountToken: each.accountToken }),
    ...(each.revokedAt !== undefined && { revocationDate: each.revokedAt, revocationReason: 0 }),
    signedDate: now(),
    environment: each.environment,
    price: 4_990,
    currency: 'IDR',
    storefront: 'IDN'
  })
  const renewalOf = (each: AppleSubscription) => ({
    originalTransactionId: each.id,
    productId: each.productId,
    autoRenewProductId: each.productId,
    autoRenewStatus: each.autoRenews ? 1 : 0,
    isInBillingRetryPeriod: each.isInBillingRetry,
    ...(each.graceUntil !== undefined && { gracePeriodExpiresDate: each.graceUntil }),
    ...(each.expirationIntent !== undefined && { expirationIntent: each.expirationIntent }),
    signedDate: now(),
    environment: each.environment
  })
  function statusOf (each: AppleSubscription) {
    if (each.revokedAt !== undefined) return 5
    if (each.expiresAt > now()) return 1
    if (each.graceUntil !== undefined && each.graceUntil > now()) return 4
    return each.isInBillingRetry ? 3 : 2
  }
  const find = (id: string) => {
    const found = subscriptions.get(id)
    if (!found) throw new Error(`there is no subscription ${id}`)
    return found
  }
  const change = (id: string, changes: Partial<AppleSubscription>) => Object.assign(find(id), changes)

  return {
    url,
    state,
    chain,
    chains,
    revoked,
    sign,
    bundleId,
    appId,
    api,
    /** The variables of the identity service; the files have to be written. */
    settings: {
      bundleId,
      appId,
      environment: 'Production' as const,
      rootCertificates: [Buffer.from(chain.root.base64, 'base64')],
      api: { key: api.privateKey, keyId, issuerId, url }
    },
    find,
    buy (
      { productId, accountToken, days = 30, isFamilyShared = false, environment = 'Production' }: {
        productId: string,
        accountToken?: string,
        days?: number,
        isFamilyShared?: boolean,
        environment?: string
      }
    ) {
      const id = `2${randomInt(1e14)}`
      subscriptions.set(id, {
        id,
        transactionId: id,
        productId,
        accountToken,
        purchasedAt: now(),
        expiresAt: now() + days * DAY_MS,
        autoRenews: true,
        graceUntil: undefined,
        isInBillingRetry: false,
        expirationIntent: undefined,
        revokedAt: undefined,
        isFamilyShared,
        environment
      })
      return id
    },
    /** The next period begins where the last one ended, or now after a hold or a refund. */
    renew (id: string, days = 30) {
      const { expiresAt, isInBillingRetry, revokedAt } = find(id)
      const purchasedAt = isInBillingRetry || revokedAt !== undefined
        ? now()
        : Math.max(expiresAt, find(id).purchasedAt + 1)
      change(id, {
        transactionId: `3${randomInt(1e14)}`,
        purchasedAt,
        expiresAt: purchasedAt + days * DAY_MS,
        isInBillingRetry: false,
        graceUntil: undefined,
        autoRenews: true,
        revokedAt: undefined
      })
    },
    /** The period is over now. */
    endPeriod: (id: string) => change(id, { expiresAt: now() }),
    /** The payment of the next period fails. */
    failPayment: (id: string, graceDays?: number) =>
      change(id, {
        isInBillingRetry: true,
        graceUntil: graceDays === undefined ? undefined : find(id).expiresAt + graceDays * DAY_MS
      }),
    giveUp: (id: string) => change(id, { isInBillingRetry: false, graceUntil: undefined, autoRenews: false }),
    /** It has ended, although it was to be renewed: the person has not agreed to a new price. */
    expire: (id: string) => change(id, { expirationIntent: 3 }),
    setAutoRenew: (id: string, autoRenews: boolean) => change(id, { autoRenews }),
    refund: (id: string) => change(id, { revokedAt: now() }),
    /** What the device has: the transaction, signed now. */
    signTransaction: async (id: string, changes: object = {}, signing?: Signing) =>
      await sign({ ...transactionOf(find(id)), ...changes }, signing),
    /** A notification of the present state. */
    signNotification: async (
      id: string,
      { type = 'DID_RENEW', uuid = randomUUID(), data = {}, transaction = {}, signing }: {
        type?: string,
        uuid?: string,
        data?: object,
        transaction?: object,
        signing?: Signing
      } = {}
    ) =>
      await sign({
        notificationType: type,
        notificationUUID: uuid,
        version: '2.0',
        signedDate: now(),
        data: {
          appAppleId: appId,
          bundleId,
          environment: find(id).environment,
          status: statusOf(find(id)),
          signedTransactionInfo: await sign({ ...transactionOf(find(id)), ...transaction }, signing),
          signedRenewalInfo: await sign(renewalOf(find(id)), signing),
          ...data
        }
      }, signing),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
