import type { KeyObject } from 'node:crypto'
import { CompactSign, compactVerify } from 'jose'
import { parseRootKey } from '@tandem/process-kit'
import type { PublicJwk, PublishedKeys } from './keys.ts'

// The keys that sign access tokens determine every caller's identity. So the key set itself is signed with a root key
// that only identity has. Every process has the public half in its configuration and need not trust the network.

const TYPE = 'tandem-keys'
const ALGORITHM = 'EdDSA'
/** Signs a key set. Only identity calls it. @param issuedAt milliseconds since 1970 */
export async function signKeySet (keys: PublicJwk[], issuedAt: number, rootKey: KeyObject): Promise<string> {
  const set: PublishedKeys = { issuedAt, keys }
  return await new CompactSign(Buffer.from(JSON.stringify(set))).setProtectedHeader({ alg: ALGORITHM, typ: TYPE }).sign(
    rootKey
  )
}

/**
 * Wraps a function that fetches a signed key set into one that verifies its signature, for `createKeySet`.
 * @returns a function that throws if no root key signed the set
 */
export function createVerifiedKeyFetcher (
  fetchSigned: () => Promise<string>,
  rootKeys: string[]
): () => Promise<PublishedKeys> {
  const roots = rootKeys.map(parseRootKey)
  return async () => {
    const signed = await fetchSigned()
    for (const root of roots) {
      const verified = await compactVerify(signed, root, { algorithms: [ALGORITHM] }).catch(() => undefined)
      if (verified?.protectedHeader.typ === TYPE) {
        return JSON.parse(Buffer.from(verified.payload).toString()) as PublishedKeys
      }
    }
    throw new Error('the key set is not signed by identity')
  }
}
