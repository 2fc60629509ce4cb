import { createLocalJWKSet, errors, importJWK, jwtVerify, SignJWT, type JWK } from 'jose'
import { ACCESS_TOKEN } from '@tandem/http-kit'
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

export function createIssuer (db: Db, secrets: Secrets): IssueToken {
  let signing: Promise<{ kid: string, key: CryptoKey | Uint8Array }> | undefined
  let readAt = 0

  async function readKey () {
    const { kid, encryptedPrivateKey } = await readSigningKey(db)
    return {
      kid,
      key: await importJWK(JSON.parse(secrets.decrypt(encryptedPrivateKey)) as JWK, ACCESS_TOKEN.algorithm)
    }
  }

  return async ({ accountId, sessionId, role }) => {
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
    return await new SignJWT({ sid: sessionId, role })
      .setProtectedHeader({ alg: ACCESS_TOKEN.algorithm, typ: ACCESS_TOKEN.type, kid })
      .setSubject(accountId)
      .setIssuer(ACCESS_TOKEN.issuer)
      .setAudience(ACCESS_TOKEN.audience)
      .setIssuedAt()
      .setExpirationTime(`${ACCESS_TOKEN.lifetimeSeconds}s`)
      .sign(key)
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
