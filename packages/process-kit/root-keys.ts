import { createPublicKey, type KeyObject } from 'node:crypto'
import { Type } from 'typebox'

/**
 * A variable that holds the public halves of the active root keys, as base64 of their DER (SPKI). There is more than
 * one during a rotation.
 */
export const RootKeys = () =>
  Type.Unsafe<string[]>({
    type: 'string',
    separator: ',',
    format: 'ed25519-public-keys',
    description: "The public halves of identity's root keys, separated by commas"
  })

/** @throws if the text is not an Ed25519 public key in base64 */
export function parseRootKey (text: string): KeyObject {
  const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('not an Ed25519 key')
  return key
}
