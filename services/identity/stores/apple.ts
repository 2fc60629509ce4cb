import { X509Certificate, type KeyObject } from 'node:crypto'
import type {
  Environment,
  JWSRenewalInfoDecodedPayload,
  JWSTransactionDecodedPayload,
  SignedDataVerifier
} from '@apple/app-store-server-library'
import fetch from 'node-fetch'
import pLimit, { type LimitFunction } from 'p-limit'
import { Unavailable, withTimeout } from '@tandem/process-kit'
import type { StoreEnvironment } from '../tables.ts'
import { STORE_TIMEOUT_MS, type FindPlan, type Reading } from './reading.ts'

export interface AppleSettings {
  bundleId: string
  appId: number | undefined
  environment: 'Production' | 'Sandbox'
  /** Whether the sandbox of a production app is verified too. */
  acceptsSandbox: boolean
  rootCertificates: Buffer[]
  onlineChecks: boolean
  /** The key of the App Store Server API; without one Apple is never asked. */
  api: { key: KeyObject, keyId: string, issuerId: string, url: string | undefined } | undefined
}

export interface AppleNotification {
  id: string
  /** Undefined for one that is not about a subscription. */
  reading: Reading | undefined
}

/** The App Store. What it signs counts, and nothing else. */
export interface Apple {
  /** Undefined if it is not a subscription of this app that Apple signed. @throws Unavailable */
  readTransaction(signedTransaction: string): Promise<Reading | undefined>
  /** Undefined if Apple did not sign it. @throws Unavailable */
  readNotification(signedPayload: string): Promise<AppleNotification | undefined>
  /** Asks what the store knows now; undefined without a key, or if it knows no such subscription. @throws Unavailable */
  ask(key: string, environment: StoreEnvironment): Promise<Reading | undefined>
  /** Whether it can be asked at all. */
  canAsk: boolean
}

const API_URLS = {
  Production: 'https://api.storekit.apple.com',
  Sandbox: 'https://api.storekit-sandbox.apple.com'
}
// More at once would share the processor, and all of them would take too long.
const CONCURRENCY = 4
export const APPLE_MANAGE_URL = 'https://apps.apple.com/account/subscriptions'

export function createApple (settings: AppleSettings, findPlan: FindPlan): Apple {
  const environments = settings.environment === 'Production' && settings.acceptsSandbox
    ? ['Production', 'Sandbox'] as const
    : [settings.environment] as const
  // While Apple does not say whether a certificate is revoked, each takes its whole time. The App Store sends a
  // notification again, so nobody who has just paid waits for one.
  const [transactions, notifications] = [pLimit(CONCURRENCY), pLimit(CONCURRENCY)]
  let opening: ReturnType<typeof open> | undefined

  /**
   * Verifies with each environment that is configured: the payload never chooses. The library would not check a signature
   * of the environments Xcode and LocalTesting, so these cannot be configured.
   */
  async function verify<Payload> (limit: LimitFunction, work: (verifier: SignedDataVerifier) => Promise<Payload>) {
    const { verifiers, VerificationException, VerificationStatus } = await (opening ??= open(settings, environments))
    for (const verifier of verifiers) {
      try {
        return { verifier, payload: await limit(() => withTimeout(STORE_TIMEOUT_MS, work(verifier))) }
      } catch (error) {
        // Whether a certificate is revoked could not be asked: it is not known to be wrong.
        const isRefused = error instanceof VerificationException &&
          error.status !== VerificationStatus.RETRYABLE_VERIFICATION_FAILURE
        if (!isRefused) throw new Unavailable()
      }
    }
    return undefined
  }

  async function readSigned (verifier: SignedDataVerifier, transaction: string, renewal: string | undefined) {
    const decoded = await verifier.verifyAndDecodeTransaction(transaction)
    return describe(decoded, renewal === undefined ? undefined : await verifier.verifyAndDecodeRenewalInfo(renewal))
  }

  function describe (transaction: JWSTransactionDecodedPayload, renewal: JWSRenewalInfoDecodedPayload | undefined) {
    const fields = requiredFields(transaction)
    if (!fields) return
    const plan = findPlan('APPLE', fields.productId)
    return plan && toReading({ ...fields, planId: plan.planId }, transaction, renewal)
  }

  return {
    canAsk: settings.api !== undefined,
    async readTransaction (signedTransaction) {
      const verified = await verify(
        transactions,
        async (verifier) => await verifier.verifyAndDecodeTransaction(signedTransaction)
      )
      return verified && describe(verified.payload, undefined)
    },
    async readNotification (signedPayload) {
      const verified = await verify(notifications, async (verifier) => {
        const { notificationUUID: id, data } = await verifier.verifyAndDecodeNotification(signedPayload)
        const transaction = data?.signedTransactionInfo
        if (transaction === undefined) return { id, isAboutSubscription: false, reading: undefined }
        return {
          id,
          isAboutSubscription: data?.signedRenewalInfo !== undefined,
          reading: await readSigned(verifier, transaction, data?.signedRenewalInfo)
        }
      })
      if (!verified?.payload.id) return
      const { id, isAboutSubscription, reading } = verified.payload
      return isAboutSubscription && !reading ? undefined : { id, reading }
    },
    async ask (key, environment) {
      const { clients, verifiers, APIException, notFoundYet } = await (opening ??= open(settings, environments))
      const index = environments.findIndex((each) => each.toUpperCase() === environment)
      const [client, verifier] = [clients[index], verifiers[index]]
      if (!client || !verifier) return
      try {
        const { data = [] } = await client.getAllSubscriptionStatuses(key)
        const found = data.flatMap(({ lastTransactions = [] }) => lastTransactions)
          .find(({ originalTransactionId }) => originalTransactionId === key)
        if (!found?.signedTransactionInfo) return
        return await readSigned(verifier, found.signedTransactionInfo, found.signedRenewalInfo)
      } catch (error) {
        if (error instanceof APIException && error.httpStatusCode === 404 && !notFoundYet.has(error.apiError)) return
        throw new Unavailable()
      }
    }
  }
}

interface RequiredFields {
  originalTransactionId: string
  productId: string
  purchaseDate: number
  expiresDate: number
  signedDate: number
}

/** The fields that every transaction of a subscription has; undefined for anything else that Apple sells. */
function requiredFields (
  { type, originalTransactionId, productId, purchaseDate, expiresDate, signedDate }: JWSTransactionDecodedPayload
): RequiredFields | undefined {
  if (type !== 'Auto-Renewable Subscription') return
  if (!originalTransactionId || !productId || !purchaseDate || !expiresDate || !signedDate) return
  return { originalTransactionId, productId, purchaseDate, expiresDate, signedDate }
}

function toReading (
  { originalTransactionId, productId, planId, purchaseDate, expiresDate, signedDate }: RequiredFields & {
    planId: string
  },
  transaction: JWSTransactionDecodedPayload,
  renewal: JWSRenewalInfoDecodedPayload | undefined
): Reading {
  const { revocationDate, transactionId } = transaction
  const { state, graceEnd } = stateOf(transaction, { expiresDate, signedDate }, renewal)
  return {
    store: 'APPLE',
    environment: transaction.environment === 'Production' ? 'PRODUCTION' : 'SANDBOX',
    key: originalTransactionId,
    productId,
    planId,
    accountToken: transaction.appAccountToken?.toLowerCase() ?? null,
    orderId: transactionId ?? null,
    state,
    willRenew: revocationDate === undefined && (renewal === undefined || renewal.autoRenewStatus === 1),
    isTrial: transaction.offerDiscountType === 'FREE_TRIAL',
    isFamilyShared: transaction.inAppOwnershipType === 'FAMILY_SHARED',
    periodStart: new Date(purchaseDate),
    periodEnd: new Date(expiresDate),
    graceEnd,
    revokedAt: revocationDate === undefined ? null : new Date(revocationDate),
    manageUrl: APPLE_MANAGE_URL,
    replaces: [],
    needsAcknowledgement: false,
    // A transaction alone does not say whether it renews or is in grace. So it counts as known from the purchase on, and
    // changes nothing of a period that a notification or an answer has described.
    knownAt: new Date(renewal === undefined && revocationDate === undefined ? purchaseDate : signedDate),
    signedAt: new Date(signedDate),
    isComplete: renewal !== undefined
  }
}

function stateOf (
  { revocationDate, isUpgraded }: JWSTransactionDecodedPayload,
  { expiresDate, signedDate }: Pick<RequiredFields, 'expiresDate' | 'signedDate'>,
  renewal: JWSRenewalInfoDecodedPayload | undefined
): Pick<Reading, 'state' | 'graceEnd'> {
  if (revocationDate !== undefined) return { state: 'REVOKED', graceEnd: null }
  if (isUpgraded) return { state: 'EXPIRED', graceEnd: null }
  const grace = renewal?.gracePeriodExpiresDate
  if (renewal?.isInBillingRetryPeriod && expiresDate <= signedDate) {
    return grace !== undefined && grace > signedDate
      ? { state: 'GRACE', graceEnd: new Date(grace) }
      : { state: 'HOLD', graceEnd: null }
  }
  // The next period can begin some minutes late. Apple names an intent once the subscription has ended.
  const isToRenew = renewal?.autoRenewStatus === 1 && renewal.expirationIntent === undefined
  return { state: expiresDate > signedDate || isToRenew ? 'ACTIVE' : 'EXPIRED', graceEnd: null }
}

/** Loaded with the first purchase: the library takes its time to load. */
async function open (
  { bundleId, appId, rootCertificates, onlineChecks, api }: AppleSettings,
  environments: readonly ('Production' | 'Sandbox')[]
) {
  const library = await import('@apple/app-store-server-library')
  const named = { Production: library.Environment.PRODUCTION, Sandbox: library.Environment.SANDBOX }
  const pem = api?.key.export({ type: 'pkcs8', format: 'pem' }).toString()

  /** Apple's client has fixed addresses and waits forever. */
  class Client extends library.AppStoreServerAPIClient {
    readonly address: string

    constructor (pem: string, { keyId, issuerId, url }: NonNullable<AppleSettings['api']>, environment: Environment) {
      super(pem, keyId, issuerId, bundleId, environment)
      this.address = url ?? API_URLS[environment === library.Environment.PRODUCTION ? 'Production' : 'Sandbox']
    }

    protected override async makeFetchRequest (
      path: string,
      query: URLSearchParams,
      method: string,
      body: string | Buffer | undefined,
      headers: Record<string, string>
    ) {
      return await fetch(`${this.address}${path}?${query.toString()}`, {
        method,
        headers,
        signal: AbortSignal.timeout(STORE_TIMEOUT_MS),
        ...(typeof body === 'string' && { body })
      })
    }
  }
  const createClient = (environment: Environment) => api && pem ? new Client(pem, api, environment) : undefined
  return {
    APIException: library.APIException,
    /** What Apple answers with 404, too, and asks to try again. */
    notFoundYet: new Set<unknown>([
      library.APIError.ACCOUNT_NOT_FOUND_RETRYABLE,
      library.APIError.APP_NOT_FOUND_RETRYABLE,
      library.APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND_RETRYABLE
    ]),
    VerificationException: library.VerificationException,
    VerificationStatus: library.VerificationStatus,
    verifiers: environments.map((each) =>
      new library.SignedDataVerifier(rootCertificates, onlineChecks, named[each], bundleId, appId)
    ),
    clients: environments.map((each) => createClient(named[each]))
  }
}

// The published SHA-256 of Apple Root CA - G3, which signs what the App Store sends.
const APPLE_ROOT_CA_G3 = '63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179'

/** Whether it is the root certificate that Apple has published. */
export const isApplesRoot = (certificate: Buffer) =>
  new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase() === APPLE_ROOT_CA_G3
