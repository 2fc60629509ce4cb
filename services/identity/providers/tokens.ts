import { createHash } from 'node:crypto'
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose'
import { Unavailable } from '@tandem/process-kit'

export interface ProviderSettings {
  /** Several, for example for an app with an id for each platform. */
  issuers: string[]
  audiences: string[]
  jwksUrl: string
  /** Whether a token can be used only once, and soon after its issue. Otherwise it can be reused until it expires. */
  singleUse: boolean
}

/** The claims of a provider token; `email` only if the provider has verified it. */
export interface ProviderIdentity {
  subject: string
  email?: string
  unverifiedEmail?: string
  name?: string
  picture?: string
  /** Identifies a single-use token. */
  singleUseDigest?: Buffer
}

// For single-use tokens. Used tokens must be kept for longer than this.
const MAX_TOKEN_AGE = '10 minutes'

/**
 * Verifies a provider token; undefined if it is invalid.
 * @throws Unavailable if the key that it names cannot be fetched
 */
export type VerifyToken = (token: string) => Promise<ProviderIdentity | undefined>

/** Without settings the provider is disabled, and every token is invalid. */
export function createVerifier (settings: ProviderSettings | undefined): VerifyToken {
  if (!settings) return async () => undefined
  const { issuers, audiences, jwksUrl, singleUse } = settings
  // Fetched keys are kept until newer ones can be fetched. An unknown key is looked up at most every 30 s.
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    cacheMaxAge: Infinity,
    cooldownDuration: 30_000,
    timeoutDuration: 3_000
  })

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: issuers,
        audience: audiences,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: 5,
        ...(singleUse && { maxTokenAge: MAX_TOKEN_AGE })
      })
      const identity = readIdentity(payload)
      return identity && { ...identity, ...(singleUse && { singleUseDigest: digestOf(token) }) }
    } catch (error) {
      if (isKeySetUnavailable(error)) throw new Unavailable()
    }
  }
}

/** Whether the provider's keys could not be fetched, as opposed to a token that is invalid without them. */
export const isKeySetUnavailable = (error: unknown) =>
  !(error instanceof errors.JOSEError) ||
  ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)

function readIdentity (
  { sub, email, email_verified: verified, name, picture }: JWTPayload
): ProviderIdentity | undefined {
  if (!sub || sub.length > 255) return
  const address = readEmail(email)
  const isVerified = verified === true || verified === 'true'
  return {
    subject: sub,
    ...(address && (isVerified ? { email: address } : { unverifiedEmail: address })),
    ...(typeof name === 'string' && { name }),
    ...(typeof picture === 'string' && picture.length <= 2_048 && /^https?:\/\//.test(picture) && { picture })
  }
}

function readEmail (email: unknown) {
  return typeof email === 'string' && email.length <= 254 && /^[!-~]+@[!-~]+$/.test(email)
    ? email.toLowerCase()
    : undefined
}

// Without the signature: the same signature has several encodings, and a second valid signature may exist.
const digestOf = (token: string) => createHash('sha256').update(token.slice(0, token.lastIndexOf('.'))).digest()
