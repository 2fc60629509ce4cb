import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { Unavailable } from '@tandem/process-kit'
import { AccountRestricted, Forbidden, InvalidAccessToken, Unauthorized } from './errors.ts'
import type { KeySet } from './keys.ts'

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

/** The format of access tokens, shared by identity, which issues them, and every process that verifies them. */
export const ACCESS_TOKEN = {
  algorithm: 'ES256',
  type: 'at+jwt',
  issuer: 'tandem',
  audience: 'tandem',
  lifetimeSeconds: 900,
  clockSkewSeconds: 5
} as const

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
  }
}

interface Claims {
  sub: string
  sid: string
  role: string
  iat: number
  exp: number
  /** Until when the account is restricted, in seconds since 1970. */
  res?: number
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

// Verifying a signature takes 47 µs and a map lookup next to nothing; a token is used about thirty times.
const MAX_CACHED_TOKENS = 10_000
// Tokens of identity have about 450 characters. Headers may have 16 KiB, and a cached token keeps its header in memory.
const MAX_TOKEN_LENGTH = 2_048

const isClaims = (claims: unknown): claims is Claims => {
  const { sub, sid, role, iat, exp, res = 0 } = claims as Record<string, unknown>
  return typeof sub === 'string' && typeof sid === 'string' && typeof role === 'string' && Number.isFinite(iat) &&
    Number.isFinite(exp) && Number.isFinite(res)
}

// The signature covers the spelling of the other parts, but not its own: the last of its 86 characters has four spare
// bits. They must be zero, or each token would have fifteen further spellings.
const CANONICAL_SIGNATURE = /^[\w-]{85}[AQgw]$/

interface Header {
  alg: unknown
  typ: unknown
  kid: unknown
  crit: unknown
}

/** The object that a part of a token encodes; an empty one if it encodes none. */
function decodePart (part: string): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

const MAX_REMEMBERED = 100

function remember<Value> (values: Map<string, Value>, name: string, value: Value) {
  if (values.size >= MAX_REMEMBERED) values.clear()
  values.set(name, value)
}

// Parsing a key takes as long as checking a signature.
const parsedKeys = new Map<string, KeyObject>()
// All tokens of a key and a type have the same header. Only those of tokens with a valid signature are remembered.
const verifiedHeaders = new Map<string, Header>()

function parseKey (pem: string): KeyObject {
  const known = parsedKeys.get(pem)
  if (known) return known
  const key = createPublicKey(pem)
  remember(parsedKeys, pem, key)
  return key
}

/** Whether the issuer, the audience and the times of a token are right. Each of them is required, except `nbf`. */
function areClaimsValid (claims: Record<string, unknown>, audience: string) {
  const { iss, aud, iat, exp, nbf = 0 } = claims
  const now = Date.now() / 1_000
  const skew = ACCESS_TOKEN.clockSkewSeconds
  return iss === ACCESS_TOKEN.issuer && aud === audience && Number.isFinite(iat) &&
    typeof exp === 'number' && exp > now - skew && typeof nbf === 'number' && nbf <= now + skew
}

/**
 * Verifies a token that identity signed, of this type and for this audience.
 * @throws if it is not valid, or Unavailable if the keys are unknown right now
 */
export async function verifySignedToken (
  keys: KeySet,
  token: string,
  { type, audience }: { type: string, audience: string }
) {
  if (token.length > MAX_TOKEN_LENGTH) throw new InvalidAccessToken()
  const [header = '', payload = '', signature = '', ...rest] = token.split('.')
  if (!CANONICAL_SIGNATURE.test(signature) || rest.length > 0) throw new InvalidAccessToken()
  const known = verifiedHeaders.get(header)
  const { alg, typ, kid, crit } = known ?? decodePart(header) as Header
  if (alg !== ACCESS_TOKEN.algorithm || typ !== type || crit !== undefined || typeof kid !== 'string') {
    throw new InvalidAccessToken()
  }
  const key = await keys.find(kid)
  if (key === undefined) throw new InvalidAccessToken()
  // fast-jwt converts the signature to DER first, and takes 15 % longer.
  const content = Buffer.from(token.slice(0, -signature.length - 1))
  const signed = { key: parseKey(key), dsaEncoding: 'ieee-p1363' } as const
  if (!verify('sha256', content, signed, Buffer.from(signature, 'base64url'))) throw new InvalidAccessToken()
  if (!known) remember(verifiedHeaders, header, { alg, typ, kid, crit })
  const claims = decodePart(payload) as Record<string, unknown>
  if (!areClaimsValid(claims, audience)) throw new InvalidAccessToken()
  return { kid, claims }
}

/**
 * Verifies the bearer token on every route of `app`, except those with `config: { public: true }`. `createServer`
 * registers it; it is exported for servers that are created in another way.
 */
export const authentication = plugin(
  async (app: FastifyInstance, { keys, isRevoked, acceptsRestricted = false }: AuthenticationOptions) => {
    /** By token: a caller can spell the header of one token in thousands of ways. */
    const verified = new Map<string, VerifiedToken>()

    // The prototype gets no value, because a request has no account until its token is verified.
    app.decorateRequest('account')

    const isUsable = ({ expiresAt, kid }: VerifiedToken) =>
      expiresAt + ACCESS_TOKEN.clockSkewSeconds > Date.now() / 1000 && keys.has(kid)

    function findCached (token: string) {
      const cached = verified.get(token)
      if (cached && isUsable(cached)) return cached
      if (cached) verified.delete(token)
    }

    async function verifyToken (token: string): Promise<VerifiedToken> {
      const { kid, claims }: { kid: string, claims: unknown } = await verifySignedToken(keys, token, ACCESS_TOKEN)
      if (!isClaims(claims)) throw new InvalidAccessToken()
      const result = {
        account: {
          id: claims.sub,
          sessionId: claims.sid,
          role: claims.role,
          restrictedUntil: claims.res ?? 0,
          token
        },
        kid,
        issuedAt: claims.iat,
        expiresAt: claims.exp
      }
      for (const [oldest, cached] of verified) {
        if (verified.size < MAX_CACHED_TOKENS && isUsable(cached)) break
        verified.delete(oldest)
      }
      verified.set(token, result)
      return result
    }

    app.decorate('verifyAccessToken', async (token) => {
      const result = findCached(token) ?? await verifyToken(token).catch((error: unknown) => {
        throw error instanceof Unavailable ? error : new InvalidAccessToken()
      })
      if (await isRevoked?.(result.account.sessionId, result.issuedAt)) throw new InvalidAccessToken()
      return result
    })

    app.addHook('onRequest', (request, _reply, done) => {
      const { config } = request.routeOptions
      if (config.public || request.is404) return done()

      const header = request.headers.authorization
      if (header === undefined) return done(new Unauthorized())
      const reject = (error?: unknown) => done(error instanceof Unavailable ? error : new InvalidAccessToken())
      const accept = ({ account, issuedAt }: VerifiedToken) => {
        const isEnded = isRevoked?.(account.sessionId, issuedAt)
        if (typeof isEnded === 'object') isEnded.then((ended) => ended ? reject() : admit(account), reject)
        else if (isEnded) reject()
        else admit(account)
      }
      const admit = (account: Account) => {
        if (!acceptsRestricted && account.restrictedUntil > Date.now() / 1_000) return done(new AccountRestricted())
        request.account = account
        done()
      }

      if (header.length > MAX_TOKEN_LENGTH) return reject()
      const [, token] = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header) ?? []
      if (token === undefined) return reject()
      const cached = findCached(token)
      if (cached) accept(cached)
      else verifyToken(token).then(accept, reject)
    })
  },
  { name: 'authentication' }
)

/**
 * Rejects callers without `role`. Use it in a route's `onRequest`, so that they learn nothing about the route's
 * validation.
 */
export const requireRole = (role: string) => async (request: FastifyRequest) => {
  if (request.account.role !== role) throw new Forbidden()
}
