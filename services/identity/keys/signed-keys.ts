import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { signKeySet } from '@tandem/http-kit'
import { ConfigError } from '@tandem/process-kit'
import type { Db } from '../tables.ts'
import { readKeySet } from './queries.ts'

/** The currently valid public keys, signed, so that a recipient need not trust the transport. */
export type SignKeySet = () => Promise<string>

export function createKeySetSigner (db: Db, rootKey: KeyObject): SignKeySet {
  return async () => {
    const { keys, issuedAt } = await readKeySet(db)
    return await signKeySet(keys, issuedAt, rootKey)
  }
}

/**
 * @param text base64 of the key's DER (PKCS 8)
 * @param publicKeys the root public keys that the other processes trust
 * @throws ConfigError if it is not an Ed25519 key, or if its public key is not among `publicKeys`
 */
export function readRootPrivateKey (text: string, publicKeys: string[]): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    // Reported below: the error of the library could contain a part of the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519') {
    throw new ConfigError('IDENTITY_ROOT_PRIVATE_KEY must be an Ed25519 key as base64 of its DER (PKCS 8)')
  }
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' })
  if (!publicKeys.some((each) => publicKey.equals(Buffer.from(each, 'base64')))) {
    throw new ConfigError(
      'IDENTITY_ROOT_PUBLIC_KEYS does not contain the public key of IDENTITY_ROOT_PRIVATE_KEY, so other ' +
        'processes would reject the keys that it signs'
    )
  }
  return key
}
