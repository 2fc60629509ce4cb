import type { KeyObject } from 'node:crypto'
import { CompactSign, compactVerify } from 'jose'
import { parseRootKey } from '@tandem/process-kit'
import type { PublicJwk } from './keys.ts'

// The keys that sign access tokens determine every caller's identity. So the key set itself is signed with a root key
// that only identity has. Every process has the public half in its configuration and need not trust the network.

const TYPE = 'tandem-keys'
const ALGORITHM = 'EdDSA'
// Identity signs a set for each request, so an older one is a replay. As with tokens, the clocks of all processes must
// agree.
const MAX_AGE_MS = 5 * 60_000
const MAX_CLOCK_SKEW_MS = 60_000

interface SignedSet {
  issuedAt: number
  keys: PublicJwk[]
}

/** Signs a key set. Only identity calls it. @param issuedAt milliseconds since 1970 */
export async function signKeySet (keys: PublicJwk[], issuedAt: number, rootKey: KeyObject): Promise<string> {
  const set: SignedSet = { issuedAt, keys }
  return await new CompactSign(Buffer.from(JSON.stringify(set))).setProtectedHeader({ alg: ALGORITHM, typ: TYPE }).sign(
    rootKey
  )
}

/**
 * Wraps a function that fetches a signed key set into one that verifies the set and returns its keys, for
 * `createKeySet`.
 * @returns a function that throws if no root key signed the set, or if the set is older than an earlier one
 */
export function createVerifiedKeyFetcher (
  fetchSigned: () => Promise<string>,
  rootKeys: string[]
): () => Promise<PublicJwk[]> {
  const roots = rootKeys.map(parseRootKey)
  let newestIssuedAt = 0
  return async () => {
    const { issuedAt, keys } = await verifySet(await fetchSigned(), roots)
    const now = Date.now()
    if (issuedAt > now + MAX_CLOCK_SKEW_MS) throw new Error('the key set was issued in the future: check the clocks')
    if (issuedAt < now - MAX_AGE_MS || issuedAt < newestIssuedAt) throw new Error('the key set is outdated')
    newestIssuedAt = issuedAt
    return keys
  }
}

async function verifySet (signed: string, roots: KeyObject[]): Promise<SignedSet> {
  for (const root of roots) {
    const verified = await compactVerify(signed, root, { algorithms: [ALGORITHM] }).catch(() => undefined)
    if (verified?.protectedHeader.typ === TYPE) return JSON.parse(Buffer.from(verified.payload).toString()) as SignedSet
  }
  throw new Error('the key set is not signed by identity')
}
