import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import Type from 'typebox'
import { readCredential } from '@tandem/google-kit'
import { ConfigError, List, Url, type Log } from '@tandem/process-kit'
import { findPlanOf } from '../subscriptions/plans.ts'
import type { SubscriptionSettings } from '../subscriptions/settings.ts'
import { createApple, isApplesRoot, type Apple } from './apple.ts'
import { createGoogle, PLAY_API_URL, PLAY_CREDENTIAL, PLAY_PUSH_JWKS_URL, type Google } from './google.ts'
import type { FindPlan } from './reading.ts'
import { createRevenueCat, REVENUECAT_API_URL, type RevenueCat } from './revenuecat.ts'

/** The stores that are set up. */
export interface Stores {
  apple?: Apple | undefined
  google?: Google | undefined
  revenuecat?: RevenueCat | undefined
}

const optional = (description: string) => Type.Optional(Type.String({ description }))

export const StoreVariables = {
  APPLE_BUNDLE_ID: optional(
    'The bundle id of the app in the App Store; with APPLE_ROOT_CERTIFICATES, purchases there count'
  ),
  APPLE_APP_ID: Type.Optional(Type.Integer({ minimum: 1, description: 'The id of the app in the App Store' })),
  APPLE_ENVIRONMENT: Type.Enum(['Production', 'Sandbox'], { type: 'string', default: 'Production' }),
  APPLE_ROOT_CERTIFICATES: List({ description: 'The files of the root certificates of Apple (DER)' }),
  APPLE_ONLINE_CHECKS: Type.Boolean({ default: true, description: 'Whether Apple is asked for revoked certificates' }),
  APPLE_KEY_ID: optional('The id of the key in APPLE_KEY_FILE'),
  APPLE_ISSUER_ID: optional('The issuer id of the App Store Server API'),
  APPLE_API_URL: Type.Optional(Url({ description: 'Where a stand-in serves the App Store Server API' })),
  PLAY_PACKAGE: optional(
    'The package of the app in Google Play; with PLAY_SERVICE_ACCOUNT_FILE, purchases there count'
  ),
  PLAY_SERVICE_ACCOUNT_FILE: optional('The service account that reads purchases'),
  PLAY_PUSH_AUDIENCE: optional('The audience of the pushes of Pub/Sub; set it with PLAY_PUSH_EMAIL'),
  PLAY_PUSH_EMAIL: optional('The service account as which Pub/Sub pushes'),
  PLAY_API_URL: Url({ default: PLAY_API_URL }),
  PLAY_PUSH_JWKS_URL: Url({ default: PLAY_PUSH_JWKS_URL }),
  REVENUECAT_SECRET_KEY: optional('The secret key of RevenueCat; set it with REVENUECAT_WEBHOOK_AUTHORIZATION'),
  REVENUECAT_WEBHOOK_AUTHORIZATION: Type.Optional(
    Type.String({ minLength: 20, description: 'The Authorization header that RevenueCat sends to the webhook' })
  ),
  REVENUECAT_API_URL: Url({ default: REVENUECAT_API_URL }),
  NODE_ENV: Type.Optional(Type.String())
}

const variables = Type.Object({ ...StoreVariables, APPLE_KEY_FILE: Type.Optional(Type.String()) })
type StoreConfig = Type.Static<typeof variables>

interface Options {
  subscriptions: SubscriptionSettings
  clock: () => Date
  log: Log
}

/** @throws ConfigError if a store is set up in part */
export async function createStores (config: StoreConfig, { subscriptions, clock, log }: Options): Promise<Stores> {
  requireSafeAddresses(config)
  const findPlan: FindPlan = (store, productId) => {
    const plan = findPlanOf(subscriptions.plans, store, productId)
    if (!plan) log.error({ store, productId }, 'SUBSCRIPTION_PLANS has no plan for a product of a store')
    return plan
  }
  const [apple, google] = [await readAppleSettings(config, subscriptions), await readGoogleSettings(config)]
  const revenuecat = readRevenueCatSettings(config)
  return {
    apple: apple && createApple(apple, findPlan),
    google: google && createGoogle(google, findPlan, clock),
    revenuecat: revenuecat && createRevenueCat(revenuecat, findPlan, clock)
  }
}

/** An address that anybody can answer for would make anybody a subscriber. */
function requireSafeAddresses (config: StoreConfig) {
  if (config.NODE_ENV !== 'production') return
  for (const name of ['APPLE_API_URL', 'PLAY_API_URL', 'PLAY_PUSH_JWKS_URL', 'REVENUECAT_API_URL'] as const) {
    if (config[name] !== undefined && new URL(config[name]).protocol !== 'https:') {
      throw new ConfigError(`${name} must be an https URL where NODE_ENV is production`)
    }
  }
}

async function readAppleSettings (config: StoreConfig, { sandbox }: SubscriptionSettings) {
  const { APPLE_BUNDLE_ID: bundleId, APPLE_ROOT_CERTIFICATES: files, APPLE_ENVIRONMENT: environment } = config
  if (!bundleId && files.length === 0) return
  if (!bundleId || files.length === 0) {
    throw new ConfigError('APPLE_BUNDLE_ID and APPLE_ROOT_CERTIFICATES must be set together')
  }
  if (environment === 'Production' && config.APPLE_APP_ID === undefined) {
    throw new ConfigError('APPLE_APP_ID is missing: in production Apple names the app by it')
  }
  const rootCertificates = await Promise.all(files.map(async (file) => await read(file, 'APPLE_ROOT_CERTIFICATES')))
  if (config.NODE_ENV === 'production' && !rootCertificates.every(isApplesRoot)) {
    throw new ConfigError('APPLE_ROOT_CERTIFICATES must be Apple Root CA - G3 where NODE_ENV is production')
  }
  return {
    bundleId,
    appId: config.APPLE_APP_ID,
    environment,
    acceptsSandbox: sandbox !== 'off',
    rootCertificates,
    onlineChecks: config.APPLE_ONLINE_CHECKS,
    api: await readAppleApi(config)
  }
}

async function readAppleApi (
  { APPLE_KEY_FILE: file, APPLE_KEY_ID: keyId, APPLE_ISSUER_ID: issuerId, APPLE_API_URL: url }: StoreConfig
) {
  if (!file && !keyId && !issuerId) return
  if (!file || !keyId || !issuerId) {
    throw new ConfigError('APPLE_KEY_FILE, APPLE_KEY_ID and APPLE_ISSUER_ID must be set together')
  }
  return { key: readKey(await read(file, 'APPLE_KEY_FILE')), keyId, issuerId, url: url?.replace(/\/$/, '') }
}

function readKey (pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    // The message must not contain the key.
    throw new ConfigError('APPLE_KEY_FILE must be a private key')
  }
}

async function read (file: string, variable: string) {
  try {
    return await readFile(file)
  } catch (error) {
    throw new ConfigError(`Cannot read ${variable}: ${(error as Error).message}`)
  }
}

async function readGoogleSettings (config: StoreConfig) {
  const { PLAY_PACKAGE: packageName, PLAY_SERVICE_ACCOUNT_FILE: file } = config
  const { PLAY_PUSH_AUDIENCE: audience, PLAY_PUSH_EMAIL: email } = config
  if (Boolean(packageName) !== Boolean(file)) {
    throw new ConfigError('PLAY_PACKAGE and PLAY_SERVICE_ACCOUNT_FILE must be set together')
  }
  if (Boolean(audience) !== Boolean(email)) {
    throw new ConfigError('PLAY_PUSH_AUDIENCE and PLAY_PUSH_EMAIL must be set together')
  }
  if (!packageName || !file) return
  return {
    packageName,
    credential: await readCredential(file, PLAY_CREDENTIAL),
    apiUrl: config.PLAY_API_URL.replace(/\/$/, ''),
    push: audience && email ? { audience, email, jwksUrl: config.PLAY_PUSH_JWKS_URL } : undefined
  }
}

function readRevenueCatSettings (config: StoreConfig) {
  const { REVENUECAT_SECRET_KEY: secretKey, REVENUECAT_WEBHOOK_AUTHORIZATION: webhookAuthorization } = config
  if (!secretKey && !webhookAuthorization) return
  if (!secretKey || !webhookAuthorization) {
    throw new ConfigError('REVENUECAT_SECRET_KEY and REVENUECAT_WEBHOOK_AUTHORIZATION must be set together')
  }
  return { secretKey, webhookAuthorization, apiUrl: config.REVENUECAT_API_URL.replace(/\/$/, '') }
}
