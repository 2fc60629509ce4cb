import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Credential } from '@tandem/google-kit'
import { Unavailable } from '@tandem/process-kit'
import { isKeySetUnavailable } from '../providers/tokens.ts'
import { isPaid } from '../subscriptions/purchase-state.ts'
import type { PurchaseState } from '../tables.ts'
import { STORE_TIMEOUT_MS, type FindPlan, type Reading } from './reading.ts'

export interface GoogleSettings {
  packageName: string
  credential: Credential
  apiUrl: string
  /** Who Pub/Sub says that it is: undefined without a webhook. */
  push: { audience: string, email: string, jwksUrl: string } | undefined
}

/** Google Play. A purchase counts as the Publisher API describes it. */
export interface Google {
  packageName: string
  /**
   * Asks what the store knows now, with every purchase that this one upgraded. Undefined if it knows no such purchase of
   * this app. @throws Unavailable
   */
  ask(token: string): Promise<Reading | undefined>
  /** Says that the app has given what was bought: otherwise Google refunds it after three days. @throws Unavailable */
  acknowledge(token: string, productId: string): Promise<void>
  /** Whether a push comes from Pub/Sub, for us. @throws Unavailable if Google's keys cannot be fetched */
  isOwnPush(authorization: string | undefined): Promise<boolean>
  /** Whether pushes are set up. */
  hasPush: boolean
}

export const PLAY_CREDENTIAL = {
  scope: 'https://www.googleapis.com/auth/androidpublisher',
  variable: 'PLAY_SERVICE_ACCOUNT_FILE'
}
export const PLAY_MANAGE_URL = 'https://play.google.com/store/account/subscriptions'
export const PLAY_API_URL = 'https://androidpublisher.googleapis.com'
export const PLAY_PUSH_JWKS_URL = 'https://www.googleapis.com/oauth2/v3/certs'

const ISSUERS = ['https://accounts.google.com', 'accounts.google.com']
const MAX_UPGRADES = 10

/** The part of a `SubscriptionPurchaseV2` that matters here. */
interface Purchase {
  startTime?: string
  subscriptionState?: string
  latestOrderId?: string
  linkedPurchaseToken?: string
  acknowledgementState?: string
  testPurchase?: object
  externalAccountIdentifiers?: AccountIdentifiers
  /** Of what was bought in the Play Store after it had expired, until it is acknowledged. */
  outOfAppPurchaseContext?: { expiredExternalAccountIdentifiers?: AccountIdentifiers }
  lineItems?: Item[]
}

interface AccountIdentifiers {
  obfuscatedExternalAccountId?: string
}

interface Item {
  productId?: string
  expiryTime?: string
  latestSuccessfulOrderId?: string
  /** A prepaid plan has none. */
  autoRenewingPlan?: { autoRenewEnabled?: boolean }
  offerPhase?: { freeTrial?: object }
}

export const keyOfToken = (token: string) => createHash('sha256').update(token).digest('hex')

export function createGoogle (
  { packageName, credential, apiUrl, push }: GoogleSettings,
  findPlan: FindPlan,
  now: () => Date
): Google {
  const address = `${apiUrl}/androidpublisher/v3/applications/${encodeURIComponent(packageName)}/purchases`
  const isPush = push && createPushCheck(push)

  async function call (path: string, init: RequestInit = {}) {
    try {
      const accessToken = await credential.getAccessToken()
      const response = await fetch(`${address}${path}`, {
        ...init,
        // A redirect would carry the access token elsewhere.
        redirect: 'error',
        headers: { 'authorization': `Bearer ${accessToken}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(STORE_TIMEOUT_MS)
      })
      if (response.status === 401) credential.invalidate(accessToken)
      return { status: response.status, body: response.ok ? await response.json() as object : undefined }
    } catch {
      throw new Unavailable()
    }
  }

  /** Undefined if there is no such purchase, or it is too old to be known. */
  async function readPurchase (token: string): Promise<Purchase | undefined> {
    const { status, body } = await call(`/subscriptionsv2/tokens/${encodeURIComponent(token)}`)
    if (body) return body
    if (![400, 404, 410].includes(status)) throw new Unavailable()
    return undefined
  }

  /** The tokens of the purchases that `purchase` upgraded, the newest first. Each names only the one before. */
  async function listUpgraded (purchase: Purchase) {
    const tokens: string[] = []
    for (let token = purchase.linkedPurchaseToken; token && tokens.length < MAX_UPGRADES;) {
      tokens.push(token)
      token = (await readPurchase(token))?.linkedPurchaseToken
    }
    return tokens
  }

  return {
    packageName,
    hasPush: push !== undefined,
    async ask (token) {
      // The same token with a space would be another purchase here.
      if (/\s/.test(token)) return
      const knownAt = now()
      const purchase = await readPurchase(token)
      const known = purchase && findItem(purchase, findPlan)
      if (!known) return
      // What is not paid replaces nothing: the purchase before it goes on.
      const isUnpaid = UNPAID.includes(purchase.subscriptionState ?? '')
      const replaces = isUnpaid ? [] : (await listUpgraded(purchase)).map(keyOfToken)
      return toReading(purchase, { ...known, token, replaces, knownAt, packageName })
    },
    async acknowledge (token, productId) {
      const path = `/subscriptions/${encodeURIComponent(productId)}/tokens/${encodeURIComponent(token)}:acknowledge`
      const { status } = await call(path, { method: 'POST', body: '{}' })
      if (status < 200 || status > 299) throw new Unavailable()
    },
    isOwnPush: async (authorization) => await isPush?.(authorization) ?? false
  }
}

const states: Record<string, PurchaseState> = {
  SUBSCRIPTION_STATE_PENDING: 'PENDING',
  SUBSCRIPTION_STATE_ACTIVE: 'ACTIVE',
  SUBSCRIPTION_STATE_CANCELED: 'ACTIVE',
  SUBSCRIPTION_STATE_IN_GRACE_PERIOD: 'GRACE',
  SUBSCRIPTION_STATE_ON_HOLD: 'HOLD',
  SUBSCRIPTION_STATE_PAUSED: 'PAUSED',
  SUBSCRIPTION_STATE_EXPIRED: 'EXPIRED',
  SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED: 'EXPIRED'
}
const UNPAID = ['SUBSCRIPTION_STATE_PENDING', 'SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED']
// Not CANCELED, which ends with its period.
const RENEWING = [
  'SUBSCRIPTION_STATE_ACTIVE',
  'SUBSCRIPTION_STATE_IN_GRACE_PERIOD',
  'SUBSCRIPTION_STATE_ON_HOLD',
  'SUBSCRIPTION_STATE_PAUSED'
]

/**
 * The item that lasts longest, of those that a plan sells. A purchase has several if it will change at the end of the
 * period, when the new one has no end yet, and if it was bought with add-ons.
 */
function findItem ({ lineItems = [] }: Purchase, findPlan: FindPlan) {
  for (const item of lineItems.toSorted((one, other) => endOf(other) - endOf(one))) {
    const productId = item.productId ?? ''
    const planId = findPlan('GOOGLE', productId)?.planId
    if (planId !== undefined) return { item, productId, planId }
  }
  return undefined
}

const endOf = ({ expiryTime }: Item) => expiryTime ? Date.parse(expiryTime) : 0

const isRenewing = ({ autoRenewingPlan }: Item) =>
  autoRenewingPlan !== undefined && autoRenewingPlan.autoRenewEnabled !== false

function toReading (
  purchase: Purchase,
  { item, token, knownAt, packageName, ...known }: Pick<Reading, 'productId' | 'planId' | 'replaces' | 'knownAt'> & {
    item: Item,
    token: string,
    packageName: string
  }
): Reading | undefined {
  const state = states[purchase.subscriptionState ?? '']
  if (!state) return
  const startedAt = purchase.startTime ? new Date(purchase.startTime) : knownAt
  const endsAt = item.expiryTime ? new Date(item.expiryTime) : startedAt
  return {
    ...known,
    store: 'GOOGLE',
    environment: purchase.testPurchase ? 'SANDBOX' : 'PRODUCTION',
    key: keyOfToken(token),
    token,
    accountToken: accountTokenOf(purchase)?.toLowerCase() ?? null,
    orderId: item.latestSuccessfulOrderId ?? purchase.latestOrderId ?? null,
    state,
    willRenew: RENEWING.includes(purchase.subscriptionState ?? '') && (purchase.lineItems ?? []).some(isRenewing),
    isTrial: item.offerPhase?.freeTrial !== undefined,
    isFamilyShared: false,
    periodStart: startedAt,
    periodEnd: endsAt,
    // Google moves the expiry to the end of the grace period.
    graceEnd: state === 'GRACE' ? endsAt : null,
    revokedAt: null,
    manageUrl: `${PLAY_MANAGE_URL}?${new URLSearchParams({ sku: known.productId, package: packageName }).toString()}`,
    needsAcknowledgement: isPaid(state) && purchase.acknowledgementState === 'ACKNOWLEDGEMENT_STATE_PENDING',
    knownAt,
    isComplete: true
  }
}

// Nobody opens the app for what is bought in the Play Store, and Google refunds what is not acknowledged.
const accountTokenOf = ({ externalAccountIdentifiers, outOfAppPurchaseContext }: Purchase) =>
  externalAccountIdentifiers?.obfuscatedExternalAccountId ??
    outOfAppPurchaseContext?.expiredExternalAccountIdentifiers?.obfuscatedExternalAccountId

/** Pub/Sub signs each push as the service account that we chose, for the audience that we chose. */
function createPushCheck ({ audience, email, jwksUrl }: NonNullable<GoogleSettings['push']>) {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: Infinity,
    cooldownDuration: 30_000,
    timeoutDuration: STORE_TIMEOUT_MS
  })
  return async (authorization: string | undefined) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
    if (!token) return false
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: ISSUERS,
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp'],
        clockTolerance: 5
      })
      return payload['email'] === email && payload['email_verified'] === true
    } catch (error) {
      if (isKeySetUnavailable(error)) throw new Unavailable()
      return false
    }
  }
}
