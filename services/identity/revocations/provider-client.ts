import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { ConfigError, Unavailable } from '@tandem/process-kit'
import type { VerifyToken } from '../providers/tokens.ts'

/** How this installation identifies itself to a provider, beyond reading its tokens. */
export interface ProviderClientSettings {
  clientId: string
  teamId: string
  keyId: string
  /** An EC private key (P-256), as PEM or as the base64 of its DER (PKCS 8). */
  privateKey: string
  /** The `aud` of the client secret: the issuer of the provider's tokens. */
  issuer: string
  tokenUrl: string
  revokeUrl: string
}

/** What a person granted with an authorization code. */
export interface Grant {
  subject: string
  refreshToken: string
}

/** Ends the connection between an account and the app at a provider. */
export interface ProviderClient {
  /** Exchanges the code of a sign-in; undefined if the provider refuses it. @throws Unavailable */
  exchange(authorizationCode: string): Promise<Grant | undefined>
  /** Also succeeds if the token is revoked already. @returns false if the provider refuses it. @throws Unavailable */
  revoke(refreshToken: string): Promise<boolean>
}

const TIMEOUT_MS = 3_000
const SECRET_LIFETIME = '5m'

/** @throws ConfigError if the private key cannot be read */
export function createProviderClient (
  { clientId, teamId, keyId, privateKey, issuer, tokenUrl, revokeUrl }: ProviderClientSettings,
  verifyToken: VerifyToken
): ProviderClient {
  const key = readPrivateKey(privateKey)

  async function post (url: string, fields: Record<string, string>) {
    const secret = await new SignJWT().setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId).setSubject(clientId).setAudience(issuer).setIssuedAt().setExpirationTime(SECRET_LIFETIME)
      .sign(key)
    const response = await fetch(url, {
      method: 'POST',
      // A redirect would carry the secret elsewhere.
      redirect: 'error',
      body: new URLSearchParams({ client_id: clientId, client_secret: secret, ...fields }),
      signal: AbortSignal.timeout(TIMEOUT_MS)
    }).catch(() => {
      throw new Unavailable()
    })
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel()
      throw new Unavailable()
    }
    return response
  }

  return {
    async exchange (authorizationCode) {
      const response = await post(tokenUrl, { grant_type: 'authorization_code', code: authorizationCode })
      const { refresh_token: refreshToken, id_token: idToken } = await response.json().catch(() => ({})) as {
        refresh_token?: unknown,
        id_token?: unknown
      }
      if (!response.ok || typeof refreshToken !== 'string' || typeof idToken !== 'string') return
      const identity = await verifyToken(idToken)
      return identity && { subject: identity.subject, refreshToken }
    },
    async revoke (refreshToken) {
      const response = await post(revokeUrl, { token: refreshToken, token_type_hint: 'refresh_token' })
      await response.body?.cancel()
      return response.ok
    }
  }
}

function readPrivateKey (text: string): KeyObject {
  try {
    const key = text.includes('-----')
      ? createPrivateKey(text.replaceAll('\\n', '\n'))
      : createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  } catch {
    // The message must not contain the key.
  }
  throw new ConfigError('PROVIDER_B_PRIVATE_KEY must be an EC private key on the curve P-256')
}
