import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { setBounded } from '@tandem/process-kit'
import { AccountRestricted, Forbidden, InvalidAccessToken, Unauthorized } from './errors.ts'
import type { KeySet } from './keys.ts'
import { ACCESS_TOKEN, readBearer } from './tokens.ts'

/** The caller, as the access token describes them. */
export interface Account {
  id: string
  sessionId: string
  role: string
  /** Until when operators have restricted the account, in seconds since 1970; 0 if they have not. */
  restrictedUntil: number
  /** The bearer token itself. Never store or log it. */
  token: string
}

export interface AuthenticationOptions {
  keys: KeySet
  /**
   * Whether the session was revoked after the token was issued (seconds since 1970). It runs on every request, so it
   * must answer from memory, and return a promise only in exceptions.
   */
  isRevoked?: (sessionId: string, issuedAt: number) => boolean | Promise<boolean>
  /** Whether accounts that operators have restricted reach the routes; default false. */
  acceptsRestricted?: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Verifies an access token that is not the bearer token of a request, as strictly as that one.
     * @throws InvalidAccessToken, or Unavailable if the keys are unknown right now
     */
    verifyAccessToken: (token: string) => Promise<VerifiedToken>
  }
  interface FastifyRequest {
    /** The caller; undefined only on routes with `config: { public: true }`. */
    account: Account
  }
  interface FastifyContextConfig {
    /** Whether the route needs no access token. */
    public?: boolean
    /** Whether every 401 of this route has the code UNAUTHORIZED. */
    unauthorizedOnly?: boolean
    /** Finds the access token of a request without an Authorization header. */
    findToken?: (request: FastifyRequest) => string | undefined
  }
}

/** A verified access token. */
export interface VerifiedToken {
  account: Account
  /** The id of the key that signed it. */
  kid: string
  /** Seconds since 1970. */
  issuedAt: number
  /** Seconds since 1970. */
  expiresAt: number
}

const MAX_CACHED_TOKENS = 10_000

/** Verifies the bearer token on every route of `app`, except those with `config: { public: true }`. */
export const authentication = plugin(
  async (app: FastifyInstance, { keys, isRevoked, acceptsRestricted = false }: AuthenticationOptions) => {
    /** By token: a caller can spell the header of one token in thousands of ways. */
    const verified = new Map<string, VerifiedToken>()

    // The prototype gets no value, because a request has no account until its token is verified.
    app.decorateRequest('account')

    const isUsable = ({ expiresAt, kid }: VerifiedToken) =>
      expiresAt + ACCESS_TOKEN.clockSkewSeconds > Date.now() / 1000 && keys.has(kid)

    async function verifyOnce (token: string): Promise<VerifiedToken> {
      const cached = verified.get(token)
      if (cached && isUsable(cached)) return cached
      verified.delete(token)
      const { kid, claims: { sub, sid, role, res = 0, iat, exp } } = await app.verifySignedToken(token, ACCESS_TOKEN)
      if (typeof sid !== 'string' || typeof role !== 'string' || typeof res !== 'number') throw new InvalidAccessToken()
      const account = { id: sub, sessionId: sid, role, restrictedUntil: res, token }
      const result = { account, kid, issuedAt: iat, expiresAt: exp }
      setBounded(verified, token, result, MAX_CACHED_TOKENS)
      return result
    }

    app.decorate('verifyAccessToken', async (token) => {
      const result = await verifyOnce(token)
      if (await isRevoked?.(result.account.sessionId, result.issuedAt)) throw new InvalidAccessToken()
      return result
    })

    app.addHook('onRequest', async (request) => {
      const { config } = request.routeOptions
      if (config.public || request.is404) return
      const header = request.headers.authorization
      const token = header === undefined ? config.findToken?.(request) : readBearer(header)
      if (token === undefined) throw new Unauthorized()
      const { account } = await app.verifyAccessToken(token)
      if (!acceptsRestricted && account.restrictedUntil > Date.now() / 1_000) throw new AccountRestricted()
      request.account = account
    })
  },
  { name: 'authentication', dependencies: ['signed-tokens'] }
)

/**
 * Rejects callers without `role`. Use it in a route's `onRequest`, so that they learn nothing about the route's
 * validation.
 */
export const requireRole = (role: string) => async (request: FastifyRequest) => {
  if (request.account.role !== role) throw new Forbidden()
}
