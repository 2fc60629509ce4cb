import { createPrivateKey, type webcrypto } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { ACCESS_TOKEN, InvalidAccessToken, readBearer, type TokenFormat } from '@tandem/http-kit'
import { OPERATOR_TOKEN, type Operator } from '@tandem/operator-kit'
import type { Db, Role } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { readSigningKey } from './queries.ts'

const KEY_REFRESH_INTERVAL_MS = 60_000

interface TokenOwner {
  accountId: string
  sessionId: string
  role: Role
}

export interface Issuers {
  /** Signs an access token. It is valid for 15 minutes or until its session ends. */
  issueToken: (owner: TokenOwner) => Promise<string>
  /** Signs the token of an operator, for one page of the console. */
  issueOperatorToken: (operator: Operator) => Promise<string>
}

type Format = Pick<TokenFormat, 'type' | 'audience'> & { lifetimeSeconds: number }

/** Creates the functions that sign tokens with @fastify/jwt of `app`. */
export function createIssuers (
  app: Pick<FastifyInstance, 'jwt'>,
  { db, secrets }: { db: Db, secrets: Secrets }
): Issuers {
  let signing: Promise<{ kid: string, key: string }> | undefined
  let readAt = 0

  async function readKey () {
    const { kid, encryptedPrivateKey } = await readSigningKey(db)
    const jwk = JSON.parse(secrets.decrypt(encryptedPrivateKey)) as webcrypto.JsonWebKey
    return { kid, key: createPrivateKey({ key: jwk, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }) }
  }

  async function currentKey () {
    if (!signing || Date.now() - readAt > KEY_REFRESH_INTERVAL_MS) {
      const previous = signing
      readAt = Date.now()
      // While the database is unavailable, the last key continues to sign.
      signing = readKey().catch((error: unknown) => {
        signing = previous
        if (previous) return previous
        throw error
      })
    }
    return await signing
  }

  async function sign (subject: string, claims: object, { type, audience, lifetimeSeconds }: Format) {
    const { kid, key } = await currentKey()
    return app.jwt.sign(claims, {
      key,
      kid,
      header: { alg: ACCESS_TOKEN.algorithm, typ: type },
      sub: subject,
      aud: audience,
      expiresIn: lifetimeSeconds
    })
  }

  return {
    async issueToken ({ accountId, sessionId, role }) {
      const account = await db.selectFrom('accounts').where('id', '=', accountId)
        .where('restricted_until', '>', sql<Date>`now()`).select('restricted_until as until').executeTakeFirst()
      const restriction = account?.until && { res: account.until.getTime() / 1_000 }
      return await sign(accountId, { sid: sessionId, role, ...restriction }, ACCESS_TOKEN)
    },
    issueOperatorToken: async ({ id, sessionId, role, accountId, provedAt, invitedBy, canConfirm }) =>
      await sign(id, {
        sid: sessionId,
        role,
        pat: Math.floor(provedAt.getTime() / 1_000),
        con: canConfirm,
        inv: invitedBy,
        ...(accountId && { acc: accountId })
      }, OPERATOR_TOKEN)
  }
}

/**
 * The owner of the access token in the header of a request to a public route, if this service issued the token. The
 * token may have expired up to `toleranceSeconds` ago, and its session may have ended: it identifies the caller and
 * authorizes nothing.
 * @throws Unavailable if the keys are unknown right now
 */
export async function findTokenOwner (
  app: Pick<FastifyInstance, 'verifySignedToken'>,
  authorization: string | undefined,
  toleranceSeconds: number
) {
  if (authorization === undefined) return
  try {
    const token = readBearer(authorization)
    const { claims: { sub, sid } } = await app.verifySignedToken(token, { ...ACCESS_TOKEN, toleranceSeconds })
    return typeof sid === 'string' ? { accountId: sub, sessionId: sid } : undefined
  } catch (error) {
    if (error instanceof InvalidAccessToken) return
    throw error
  }
}
