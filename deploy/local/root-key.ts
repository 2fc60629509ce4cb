import { createPrivateKey, createPublicKey } from 'node:crypto'
import { secret } from './data-dir.ts'

// What stands before the 32 bytes of an Ed25519 key in its DER form (RFC 8410).
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Identity's root key, made at the first start, and the half of it that every process knows. */
export function rootKeyOf (dataDir: string) {
  const privateKey = Buffer.concat([PKCS8_HEADER, Buffer.from(secret(dataDir, 'identity.root'), 'hex')])
  const publicKey = createPublicKey(createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' })).export({ format: 'der', type: 'spki' })
  return { privateKey: privateKey.toString('base64'), publicKey: publicKey.toString('base64') }
}
