import jwt from '@fastify/jwt'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { Forbidden, InvalidAccessToken, ServiceUnavailable, Unauthorized } from './errors.ts'
import type { KeySet } from './keys.ts'

/** Who is asking. */
export interface Account {
  id: string
  sessionId: string
  role: string
  /** The bearer token itself. Not to be stored or logged. */
  token: string
}

/** What an access token is, for the one service that issues it and all that accept it. Times in seconds. */
export const ACCESS_TOKEN = { algorithm: 'ES256', type: 'at+jwt', issuer: 'tandem', audience: 'tandem', lifetimeSeconds: 900, clockSkewSeconds: 5 } as const

export interface AuthenticationOptions {
  keys: KeySet
  /** Whether a session has ended since the token was issued (seconds since 1970). Asked on every request, so it answers from memory. */
  isRevoked?: (sessionId: string, issuedAt: number) => boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; missing only on routes with `config: { public: true }`. */
    account: Account
  }
  interface FastifyContextConfig {
    /** Whether the route answers without an access token. */
    public?: boolean
    /** Whether every 401 of this route is UNAUTHORIZED. */
    unauthorizedOnly?: boolean
  }
}

interface Claims { sub: string, sid: string, role: string, iat: number, exp: number }
interface Verified { account: Account, kid: string, issuedAt: number, expiresAt: number }

// A signature costs 47 µs to check and a look into the map next to nothing; a token is used about thirty times.
const remembered = 10_000

const isClaims = (claims: unknown): claims is Claims => {
  const { sub, sid, role, iat, exp } = claims as Record<string, unknown>
  return typeof sub === 'string' && typeof sid === 'string' && typeof role === 'string' && Number.isFinite(iat) && Number.isFinite(exp)
}

// Base64url leaves spare bits in a last character. One token has one spelling, or a changed token might pass as another.
const isCanonical = (token: string) => token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

/**
 * Gives every route of `app` the check of the bearer token, except those with `config: { public: true }`. createServer does this;
 * it stands here for a server of another make.
 */
export const authentication = plugin(async (app: FastifyInstance, { keys, isRevoked }: AuthenticationOptions) => {
  const verified = new Map<string, Verified>()

  await app.register(jwt, {
    secret: {
      public: async (_request: FastifyRequest, token: { header?: { kid?: unknown } }) => {
        const kid = token.header?.kid
        const key = typeof kid === 'string' ? await keys.find(kid) : undefined
        if (!key) throw new InvalidAccessToken()
        return key
      }
    } as never,
    decode: { complete: true },
    verify: {
      algorithms: [ACCESS_TOKEN.algorithm],
      checkTyp: ACCESS_TOKEN.type,
      allowedIss: ACCESS_TOKEN.issuer,
      allowedAud: ACCESS_TOKEN.audience,
      clockTolerance: ACCESS_TOKEN.clockSkewSeconds * 1000,
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'role', 'iat', 'exp'],
      cache: false
    }
  })
  // Without a value of its own in the prototype, as there is no account until somebody has been recognised.
  app.decorateRequest('account')

  function recall (token: string) {
    const known = verified.get(token)
    if (known && known.expiresAt + ACCESS_TOKEN.clockSkewSeconds > Date.now() / 1000 && keys.has(known.kid)) return known
    verified.delete(token)
  }

  async function verify (request: FastifyRequest, token: string): Promise<Verified> {
    if (!isCanonical(token)) throw new InvalidAccessToken()
    const claims: unknown = await request.jwtVerify()
    if (!isClaims(claims)) throw new InvalidAccessToken()
    const { header: { kid } } = app.jwt.decode(token, { complete: true }) as { header: { kid: string } }
    const fresh = {
      account: { id: claims.sub, sessionId: claims.sid, role: claims.role, token },
      kid,
      issuedAt: claims.iat,
      expiresAt: claims.exp
    }
    if (verified.size >= remembered) for (const oldest of verified.keys()) { verified.delete(oldest); break }
    verified.set(token, fresh)
    return fresh
  }

  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions
    if (config.public || request.is404) return done()

    const header = request.headers.authorization
    if (header === undefined) return done(new Unauthorized())
    const refuse = (error?: unknown) => done(error instanceof ServiceUnavailable ? error : config.unauthorizedOnly ? new Unauthorized() : new InvalidAccessToken())
    const accept = ({ account, issuedAt }: Verified) => {
      if (isRevoked?.(account.sessionId, issuedAt)) return refuse()
      request.account = account
      done()
    }

    const [, token] = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header) ?? []
    if (token === undefined) return refuse()
    const known = recall(token)
    if (known) accept(known)
    else verify(request, token).then(accept, refuse)
  })
}, { name: 'authentication' })

/** For a route's `onRequest`, so that who may not ask is told nothing of how: refuses who does not have `role`. */
export const requireRole = (role: string) => async (request: FastifyRequest) => {
  if (request.account.role !== role) throw new Forbidden()
}
