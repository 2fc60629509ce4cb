import { createLocalJWKSet, errors, importJWK, jwtVerify, SignJWT, type JWK } from 'jose'
import { sql } from 'kysely'
import { ACCESS_TOKEN } from '@tandem/http-kit'
import { OPERATOR_TOKEN, type Operator } from '@tandem/operator-kit'
import type { Db, Role } from '../tables.ts'
import type { Secrets } from '../secrets.ts'
import { listPublicKeys, readSigningKey } from './queries.ts'

const KEY_REFRESH_INTERVAL_MS = 60_000

interface TokenOwner {
  accountId: string
  sessionId: string
  role: Role
}

/** Signs an access token. It is valid for 15 minutes or until its session ends. */
export type IssueToken = (owner: TokenOwner) => Promise<string>

/** Signs the token of an operator, for one page of the console. */
export type IssueOperatorToken = (operator: Operator) => Promise<string>

interface Claims {
  subject: string
  type: string
  audience: string
  lifetimeSeconds: number
  more: Record<string, unknown>
}

export function createIssuers (
  db: Db,
  secrets: Secrets
): { issueToken: IssueToken, issueOperatorToken: IssueOperatorToken } {
  let signing: Promise<{ kid: string, key: CryptoKey | Uint8Array }> | undefined
  let readAt = 0

  async function readKey () {
    const { kid, encryptedPrivateKey } = await readSigningKey(db)
    return {
      kid,
      key: await importJWK(JSON.parse(secrets.decrypt(encryptedPrivateKey)) as JWK, ACCESS_TOKEN.algorithm)
    }
  }

  async function issue ({ subject, type, audience, lifetimeSeconds, more }: Claims) {
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
    const { kid, key } = await signing
    return await new SignJWT(more)
      .setProtectedHeader({ alg: ACCESS_TOKEN.algorithm, typ: type, kid })
      .setSubject(subject)
      .setIssuer(ACCESS_TOKEN.issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSeconds}s`)
      .sign(key)
  }

  return {
    async issueToken ({ accountId, sessionId, role }) {
      const account = await db.selectFrom('accounts').where('id', '=', accountId)
        .where('restricted_until', '>', sql<Date>`now()`).select('restricted_until as until').executeTakeFirst()
      const restriction = account?.until && { res: account.until.getTime() / 1_000 }
      return await issue({ ...ACCESS_TOKEN, subject: accountId, more: { sid: sessionId, role, ...restriction } })
    },
    issueOperatorToken: async ({ id, sessionId, role, accountId, provedAt, invitedBy, canConfirm }) =>
      await issue({
        ...OPERATOR_TOKEN,
        subject: id,
        more: {
          sid: sessionId,
          role,
          pat: Math.floor(provedAt.getTime() / 1_000),
          con: canConfirm,
          inv: invitedBy,
          ...(accountId && { acc: accountId })
        }
      })
  }
}

/**
 * The owner of the access token in the header of a request to a public route, if this service issued the token. The
 * token may have expired up to `toleranceSeconds` ago, and its session may have ended: it identifies the caller and
 * authorizes nothing.
 */
export async function findTokenOwner (db: Db, authorization: string | undefined, toleranceSeconds: number) {
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  if (token === undefined) return
  const { algorithm, type, issuer, audience, clockSkewSeconds } = ACCESS_TOKEN
  try {
    const { payload: { sub, sid } } = await jwtVerify(token, createLocalJWKSet({ keys: await listPublicKeys(db) }), {
      algorithms: [algorithm],
      typ: type,
      issuer,
      audience,
      requiredClaims: ['sub', 'sid', 'exp'],
      clockTolerance: clockSkewSeconds + toleranceSeconds
    })
    return sub !== undefined && typeof sid === 'string' ? { accountId: sub, sessionId: sid } : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return
    throw error
  }
}
