import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readOrCreateSecret } from './data-dir.ts'

// The DER prefix of a 32-byte Ed25519 key (RFC 8410).
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Identity's root key, created at the first start, and its public half, which every process gets. */
export function rootKeyOf (dataDir: string) {
  const privateKey = Buffer.concat([PKCS8_HEADER, Buffer.from(readOrCreateSecret(dataDir, 'identity.root'), 'hex')])
  const publicKey = createPublicKey(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })).export({
    format: 'der',
    type: 'spki'
  })
  return { privateKey: privateKey.toString('base64'), publicKey: publicKey.toString('base64') }
}
