import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const issuer = 'https://provider-a.example'
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Stands in for provider A, whose tokens identity accepts with `environment`. */
export async function startProvider () {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'RS256', use: 'sig' }] }))
  }).listen(0, '127.0.0.1')
  await once(keys, 'listening')
  return {
    environment: {
      PROVIDER_A_ISSUER: issuer,
      PROVIDER_A_AUDIENCE: 'tandem',
      PROVIDER_A_JWKS_URL: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`
    },
    /** A token for an account there that has this address. */
    tokenOf (email: string) {
      const exp = Math.floor(Date.now() / 1_000) + 300
      const claims = { iss: issuer, aud: 'tandem', sub: `account of ${email}`, email, email_verified: true, exp }
      const content = `${encode({ alg: 'RS256', kid: 'a' })}.${encode(claims)}`
      return `${content}.${sign('sha256', Buffer.from(content), privateKey).toString('base64url')}`
    },
    close () {
      keys.closeAllConnections()
      keys.close()
    }
  }
}
