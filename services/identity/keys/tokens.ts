import { importJWK, SignJWT, type JWK } from 'jose'
import { accessToken } from '@tandem/service-kit'
import type { Db, Role } from '../schema.ts'
import type { Secrets } from '../secrets.ts'
import { readSigningKey } from './queries.ts'

const KEY_READ_EVERY = 60_000

interface TokenOwner { accountId: string, sessionId: string, role: Role }

/** Signs an access token, good for 15 minutes or until its session ends. */
export type IssueToken = (owner: TokenOwner) => Promise<string>

export function createIssuer (db: Db, secrets: Secrets): IssueToken {
  let signing: Promise<{ kid: string, key: CryptoKey | Uint8Array }> | undefined
  let readAt = 0

  async function readKey () {
    const { kid, sealed } = await readSigningKey(db)
    return { kid, key: await importJWK(JSON.parse(secrets.unseal(sealed)) as JWK, accessToken.algorithm) }
  }

  return async ({ accountId, sessionId, role }) => {
    if (!signing || Date.now() - readAt > KEY_READ_EVERY) {
      const before = signing
      readAt = Date.now()
      // While the database is away, the key of a minute ago goes on signing.
      signing = readKey().catch((error: unknown) => {
        signing = before
        if (before) return before
        throw error
      })
    }
    const { kid, key } = await signing
    return await new SignJWT({ sid: sessionId, role })
      .setProtectedHeader({ alg: accessToken.algorithm, typ: accessToken.type, kid })
      .setSubject(accountId)
      .setIssuer(accessToken.issuer)
      .setAudience(accessToken.audience)
      .setIssuedAt()
      .setExpirationTime(`${accessToken.lifetime}s`)
      .sign(key)
  }
}
