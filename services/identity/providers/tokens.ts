import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose'
import { ServiceUnavailable } from '@tandem/service-kit'

export interface ProviderSettings { issuer?: string | undefined, audience?: string | undefined, jwksUrl?: string | undefined }

/** What a provider's token says of a person; an address only if the provider has verified it. */
export interface Identity { subject: string, email?: string, unverifiedEmail?: string, name?: string, picture?: string }

/** Checks a provider's token; undefined when it is not good. @throws ServiceUnavailable while the provider's keys were never had */
export type VerifyToken = (token: string) => Promise<Identity | undefined>

export function createVerifier ({ issuer, audience, jwksUrl }: ProviderSettings): VerifyToken {
  // Without its settings a provider is not offered here, and no token can be his.
  if (!issuer || !audience || !jwksUrl) return async () => undefined

  // The last good keys are kept for as long as no newer ones can be had; an unknown one is looked for at most every 30 s.
  const keys = createRemoteJWKSet(new URL(jwksUrl), { cacheMaxAge: Infinity, cooldownDuration: 30_000, timeoutDuration: 3_000 })

  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience, requiredClaims: ['sub', 'exp'], clockTolerance: 5 })
      return readIdentity(payload)
    } catch (error) {
      if (!keys.jwks() && isOutOfReach(error)) throw new ServiceUnavailable()
    }
  }
}

/** Whether the provider's keys could not be had, as against a token that needs none to be refused. */
const isOutOfReach = (error: unknown) =>
  !(error instanceof errors.JOSEError) || error instanceof errors.JWKSTimeout || error.code === errors.JOSEError.code

function readIdentity ({ sub, email, email_verified: verified, name, picture }: JWTPayload): Identity | undefined {
  if (!sub || sub.length > 255) return
  const address = typeof email === 'string' && email.length <= 254 && email.includes('@') ? email.trim().toLowerCase() : undefined
  const isVerified = verified === true || verified === 'true'
  return {
    subject: sub,
    ...(address && (isVerified ? { email: address } : { unverifiedEmail: address })),
    ...(typeof name === 'string' && { name }),
    ...(typeof picture === 'string' && { picture })
  }
}
