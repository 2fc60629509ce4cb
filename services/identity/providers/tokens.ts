import { createHash } from 'node:crypto'
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose'
import { ServiceUnavailable } from '@tandem/service-kit'

export interface ProviderSettings {
  /** More than one, as for an app that has an id for each platform. */
  issuers: string[]
  audiences: string[]
  jwksUrl: string
  /** Whether a token signs in once, and soon after its issue; else as often as it is shown until it expires. */
  singleUse: boolean
}

/** What a provider's token says of a person; an address only if the provider has verified it. */
export interface Identity {
  subject: string
  email?: string
  unverifiedEmail?: string
  name?: string
  picture?: string
  /** What a token that is good once is known by. */
  spends?: Buffer
}

// Of tokens that are good once. How long they are remembered depends on it.
const OLDEST = '10 minutes'

/** Checks a provider's token; undefined when it is not good. @throws ServiceUnavailable when the key it names cannot be had just now */
export type VerifyToken = (token: string) => Promise<Identity | undefined>

/** Without settings a provider is not offered here, and no token can be his. */
export function createVerifier (settings: ProviderSettings | undefined): VerifyToken {
  if (!settings) return async () => undefined
  const { issuers, audiences, jwksUrl, singleUse } = settings
  // The last good keys are kept for as long as no newer ones can be had; an unknown one is looked for at most every 30 s.
  const keys = createRemoteJWKSet(new URL(jwksUrl), { cacheMaxAge: Infinity, cooldownDuration: 30_000, timeoutDuration: 3_000 })

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: issuers, audience: audiences, requiredClaims: ['sub', 'exp'], clockTolerance: 5, ...(singleUse && { maxTokenAge: OLDEST })
      })
      const identity = readIdentity(payload)
      return identity && { ...identity, ...(singleUse && { spends: digestOf(token) }) }
    } catch (error) {
      if (isOutOfReach(error)) throw new ServiceUnavailable()
    }
  }
}

/** Whether the provider's keys could not be had, as against a token that needs none to be refused. */
const isOutOfReach = (error: unknown) => !(error instanceof errors.JOSEError) ||
  ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)

function readIdentity ({ sub, email, email_verified: verified, name, picture }: JWTPayload): Identity | undefined {
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
  return typeof email === 'string' && email.length <= 254 && /^[!-~]+@[!-~]+$/.test(email) ? email.toLowerCase() : undefined
}

// Without the signature: there are other ways to write the same one, or another that is as good.
const digestOf = (token: string) => createHash('sha256').update(token.slice(0, token.lastIndexOf('.'))).digest()
