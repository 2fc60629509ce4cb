import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { ConfigError, signKeySet } from '@tandem/service-kit'
import type { Db } from '../tables.ts'
import { readKeySet } from './queries.ts'

/** The public keys that are valid now, signed, so that whoever gets them need not trust the way they came. */
export type SignKeySet = () => Promise<string>

export function createKeySetSigner (db: Db, rootKey: KeyObject): SignKeySet {
  return async () => {
    const { keys, readAt } = await readKeySet(db)
    return await signKeySet(keys, readAt.getTime(), rootKey)
  }
}

/**
 * @param text base64 of the key's DER (PKCS 8)
 * @param publicKeys what the other processes know of it
 * @throws ConfigError for what is no Ed25519 key, and for one whose signatures nobody would believe
 */
export function readRootPrivateKey (text: string, publicKeys: string[]): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    // Told below: the error of the library could hold a part of the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw new ConfigError('IDENTITY_ROOT_PRIVATE_KEY must be an Ed25519 key as base64 of its DER (PKCS 8)')
  const own = createPublicKey(key).export({ format: 'der', type: 'spki' })
  if (!publicKeys.some((each) => own.equals(Buffer.from(each, 'base64')))) {
    throw new ConfigError('IDENTITY_ROOT_PUBLIC_KEYS does not hold the public half of IDENTITY_ROOT_PRIVATE_KEY, so nobody would believe the keys that it signs')
  }
  return key
}
