import Type from 'typebox'
import { HooksEnvironment } from '@tandem/http-kit'
import { FourEyes } from '@tandem/operator-kit'
import { ConfigError, List, Url } from '@tandem/process-kit'
import { CdnUrl } from '@tandem/media-url-kit'
import { ServiceEnvironment } from '@tandem/service-kit'
import { DEFAULT_CONSOLE_URL } from './staff/settings.ts'
import type { ProviderSettings } from './providers/tokens.ts'
import type { ProviderClientSettings } from './revocations/provider-client.ts'
import { StorageVariables } from './storages.ts'
import { StoreVariables } from './stores/settings.ts'
import { SubscriptionVariables } from './subscriptions/settings.ts'

const issuer = List({
  description:
    'The `iss` of its tokens, comma-separated if several; set it with the two below, or set none of the three'
})
const audience = List({ description: 'The `aud` of its tokens: the ids of the apps, comma-separated' })
const jwksUrl = Type.Optional(Url({ description: 'The URL of its public keys' }))
const clientSetting = (description: string) => Type.Optional(Type.String({ description }))

export const Config = Type.Object({
  ...ServiceEnvironment,
  REDIS_URL: Url(),
  SMTP_URL: Url(),
  MAIL_FROM: Type.Optional(Type.String({ description: 'The sender of mails; by default fromAddress of the brand' })),
  PUBLIC_URL: Url({ description: 'The public URL of this installation; links in mails start with it' }),
  CDN_URL: CdnUrl(),
  ...HooksEnvironment,
  ...StorageVariables,
  ...SubscriptionVariables,
  ...StoreVariables,
  CONSOLE_URL: Url({
    default: DEFAULT_CONSOLE_URL,
    description: 'The URL of the console for operators; it needs https, except on localhost'
  }),
  FOUR_EYES: FourEyes,
  DELETION_GRACE_DAYS: Type.Integer({
    minimum: 0,
    maximum: 28,
    default: 14,
    description: 'How long a person can cancel the deletion of their account'
  }),
  REFERRAL_REWARD_DAYS: Type.Integer({
    minimum: 0,
    maximum: 90,
    default: 7,
    description: 'Days of premium for both people when somebody registers with a referral code; 0: none'
  }),
  SECRET: Type.String({
    minLength: 32,
    description: 'At least 32 random characters; signing keys are encrypted and codes hashed with it'
  }),
  IDENTITY_ROOT_PRIVATE_KEY: Type.String({
    description: 'The root key that signs the key set: an Ed25519 private key, base64 of its DER (PKCS 8)'
  }),
  PASSWORD_BLOCKLIST: Type.Boolean({ default: false, description: 'Whether the most common passwords are rejected' }),
  PROVIDER_TOKENS_SINGLE_USE: Type.Boolean({
    default: false,
    description: 'Whether a provider token can be used only once, and within 10 minutes of its issue'
  }),
  PROVIDER_A_ISSUER: issuer,
  PROVIDER_A_AUDIENCE: audience,
  PROVIDER_A_JWKS_URL: jwksUrl,
  PROVIDER_B_ISSUER: issuer,
  PROVIDER_B_AUDIENCE: audience,
  PROVIDER_B_JWKS_URL: jwksUrl,
  PROVIDER_B_CLIENT_ID: clientSetting(
    'The id of the app there; with the five below, deletions revoke its access. Set all six or none'
  ),
  PROVIDER_B_TEAM_ID: clientSetting('The id of the developer, who signs the client secret'),
  PROVIDER_B_KEY_ID: clientSetting('The id of the private key'),
  PROVIDER_B_PRIVATE_KEY: clientSetting('The EC private key (P-256): PEM, or base64 of its DER (PKCS 8)'),
  PROVIDER_B_TOKEN_URL: Type.Optional(Url({ description: 'Where an authorization code is exchanged' })),
  PROVIDER_B_REVOKE_URL: Type.Optional(Url({ description: 'Where a token is revoked' }))
})

/** The settings of this installation's client of provider B; undefined without them. @throws ConfigError */
export function providerClientSettings (config: Type.Static<typeof Config>): ProviderClientSettings | undefined {
  const settings = {
    clientId: config.PROVIDER_B_CLIENT_ID,
    teamId: config.PROVIDER_B_TEAM_ID,
    keyId: config.PROVIDER_B_KEY_ID,
    privateKey: config.PROVIDER_B_PRIVATE_KEY,
    issuer: config.PROVIDER_B_ISSUER[0],
    tokenUrl: config.PROVIDER_B_TOKEN_URL,
    revokeUrl: config.PROVIDER_B_REVOKE_URL
  }
  const { issuer, ...own } = settings
  if (Object.values(own).every((value) => value === undefined)) return
  if (isComplete(settings)) return settings
  throw new ConfigError(
    'PROVIDER_B_CLIENT_ID, _TEAM_ID, _KEY_ID, _PRIVATE_KEY, _TOKEN_URL, _REVOKE_URL and _ISSUER must be set together'
  )
}

const isComplete = (
  settings: { [Name in keyof ProviderClientSettings]: string | undefined }
): settings is ProviderClientSettings => Object.values(settings).every((value) => value !== undefined)

/** The settings of a provider; undefined if it is not configured. @throws ConfigError if it is configured in part */
export function providerSettings (
  config: Type.Static<typeof Config>,
  provider: 'PROVIDER_A' | 'PROVIDER_B'
): ProviderSettings | undefined {
  const singleUse = config.PROVIDER_TOKENS_SINGLE_USE
  const issuers = config[`${provider}_ISSUER`]
  const audiences = config[`${provider}_AUDIENCE`]
  const jwksUrl = config[`${provider}_JWKS_URL`]
  if (issuers.length > 0 && audiences.length > 0 && jwksUrl) return { issuers, audiences, jwksUrl, singleUse }
  if (issuers.length > 0 || audiences.length > 0 || jwksUrl) {
    throw new ConfigError(`${provider}_ISSUER, ${provider}_AUDIENCE and ${provider}_JWKS_URL must be set together`)
  }
}
