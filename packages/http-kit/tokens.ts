import jwt from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import plugin from 'fastify-plugin'
import { InvalidAccessToken } from './errors.ts'
import type { KeySet } from './keys.ts'

/** The format of access tokens, shared by identity, which issues them, and every process that verifies them. */
export const ACCESS_TOKEN = {
  algorithm: 'ES256',
  type: 'at+jwt',
  issuer: 'tandem',
  audience: 'tandem',
  lifetimeSeconds: 900,
  clockSkewSeconds: 5
} as const

// Tokens of identity have about 450 characters. Headers may have 16 KiB, and each is decoded before its key is known.
const MAX_TOKEN_LENGTH = 2_048

/** What a token must be. */
export interface TokenFormat {
  /** The `typ` of its header. */
  type: string
  audience: string
  /** How long ago it may have expired; default 0. */
  toleranceSeconds?: number
}

/** A token that identity signed. */
export interface SignedToken {
  /** The id of the key that signed it. */
  kid: string
  claims: { sub: string, iat: number, exp: number } & Record<string, unknown>
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Verifies a token that identity signed, of any of its formats.
     * @throws InvalidAccessToken, or Unavailable if the keys are unknown right now
     */
    verifySignedToken: (token: string, format: TokenFormat) => Promise<SignedToken>
  }
}

/** The token of an Authorization header. @throws InvalidAccessToken */
export function readBearer (header: string) {
  const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (token === undefined) throw new InvalidAccessToken()
  return token
}

/** Registers @fastify/jwt, with which identity signs and every process verifies. */
export const signedTokens = plugin(async (app: FastifyInstance, { keys }: { keys: KeySet }) => {
  await app.register(jwt, {
    // A token is verified with the key that it names, and signed with a key of identity's database.
    secret: async () => await Promise.reject(new Error('pass the key')),
    decode: { complete: true },
    sign: { algorithm: ACCESS_TOKEN.algorithm, iss: ACCESS_TOKEN.issuer },
    verify: {
      algorithms: [ACCESS_TOKEN.algorithm],
      allowedIss: ACCESS_TOKEN.issuer,
      requiredClaims: ['iss', 'aud', 'sub', 'iat', 'exp']
    }
  })

  function readKeyId (token: string) {
    const decoded = app.jwt.decode<{ header: { kid?: unknown } }>(token)
    return typeof decoded?.header.kid === 'string' ? decoded.header.kid : undefined
  }

  function orInvalid<Result> (read: () => Result) {
    try {
      return read()
    } catch {
      throw new InvalidAccessToken()
    }
  }

  app.decorate('verifySignedToken', async (token, { type, audience, toleranceSeconds = 0 }) => {
    if (token.length > MAX_TOKEN_LENGTH) throw new InvalidAccessToken()
    const kid = orInvalid(() => readKeyId(token))
    const key = kid === undefined ? undefined : await keys.find(kid)
    if (kid === undefined || key === undefined) throw new InvalidAccessToken()
    const claims = orInvalid(() =>
      app.jwt.verify<SignedToken['claims']>(token, {
        key,
        checkTyp: type,
        allowedAud: audience,
        clockTolerance: (ACCESS_TOKEN.clockSkewSeconds + toleranceSeconds) * 1_000
      })
    )
    if (typeof claims.sub !== 'string' || typeof claims.iat !== 'number') throw new InvalidAccessToken()
    return { kid, claims }
  })
}, { name: 'signed-tokens' })
