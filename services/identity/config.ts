import Type from 'typebox'
import { ConfigError, List, RootKeys, ServiceEnvironment, Url } from '@tandem/service-kit'
import type { ProviderSettings } from './providers/tokens.ts'

const issuer = List({ description: 'The `iss` of its tokens, several by comma; with the two below, or none of the three' })
const audience = List({ description: 'The `aud` of its tokens: the ids of the apps' })
const jwksUrl = Type.Optional(Url({ description: 'Where its public keys are' }))

export const Config = Type.Object({
  ...ServiceEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url(),
  SMTP_URL: Url(),
  MAIL_FROM: Type.String({ default: 'Tandem <hello@tandem.example>' }),
  PUBLIC_URL: Url({ description: 'Where people reach this installation; links in mails begin with it' }),
  SECRET: Type.String({ minLength: 32, description: 'At least 32 random characters: codes and signing keys are sealed with it' }),
  IDENTITY_ROOT_PRIVATE_KEY: Type.String({ description: 'The root key that signs the set of keys: an Ed25519 key as base64 of its DER (PKCS 8)' }),
  PASSWORD_BLOCKLIST: Type.Boolean({ default: false, description: 'Whether the most common passwords are refused' }),
  PROVIDER_TOKENS_SINGLE_USE: Type.Boolean({ default: false, description: "Whether a provider's token signs in once, and within 10 minutes of its issue" }),
  PROVIDER_A_ISSUER: issuer,
  PROVIDER_A_AUDIENCE: audience,
  PROVIDER_A_JWKS_URL: jwksUrl,
  PROVIDER_B_ISSUER: issuer,
  PROVIDER_B_AUDIENCE: audience,
  PROVIDER_B_JWKS_URL: jwksUrl
})

/** The settings of a provider, if it is offered. @throws ConfigError for half a provider */
export function providerSettings (config: Type.Static<typeof Config>, provider: 'PROVIDER_A' | 'PROVIDER_B'): ProviderSettings | undefined {
  const singleUse = config.PROVIDER_TOKENS_SINGLE_USE
  const issuers = config[`${provider}_ISSUER`]
  const audiences = config[`${provider}_AUDIENCE`]
  const jwksUrl = config[`${provider}_JWKS_URL`]
  if (issuers.length > 0 && audiences.length > 0 && jwksUrl) return { issuers, audiences, jwksUrl, singleUse }
  if (issuers.length > 0 || audiences.length > 0 || jwksUrl) {
    throw new ConfigError(`${provider}_ISSUER, ${provider}_AUDIENCE and ${provider}_JWKS_URL must be set together`)
  }
}
