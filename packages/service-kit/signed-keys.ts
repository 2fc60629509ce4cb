import { createPublicKey, type KeyObject } from 'node:crypto'
import { CompactSign, compactVerify } from 'jose'
import type { TSchemaOptions } from 'typebox'
import { Type } from 'typebox'
import type { PublicJwk } from './keys.ts'

// Whoever decides which keys sign access tokens decides who anybody is. So the set of keys is signed itself, with a root key that identity
// alone has, and every process knows the public half from its own configuration: no network between them has to be trusted.

const TYPE = 'tandem-keys'
const ALGORITHM = 'EdDSA'
// Identity signs when it is asked, so nothing older is an answer: it would be one of before, shown again. As tokens do, this wants clocks that agree.
const MAX_AGE_MS = 5 * 60_000
const MAX_CLOCK_SKEW_MS = 60_000

interface SignedSet { issuedAt: number, keys: PublicJwk[] }

/** The public halves of the root keys that are in use, as base64 of their DER (SPKI). More than one while they are rotated. */
export const RootKeys = (options: TSchemaOptions = {}) => Type.Unsafe<string[]>({
  type: 'string', separator: ',', format: 'ed25519-public-keys', description: "The public halves of identity's root keys, separated by commas", ...options
})

/** @throws for a text that is no public Ed25519 key in base64 */
export function parseRootKey (text: string): KeyObject {
  const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('not an Ed25519 key')
  return key
}

/** Signs the set of keys that is valid at `issuedAt`, in milliseconds since 1970. For identity. */
export async function signKeySet (keys: PublicJwk[], issuedAt: number, rootKey: KeyObject): Promise<string> {
  const set: SignedSet = { issuedAt, keys }
  return await new CompactSign(Buffer.from(JSON.stringify(set))).setProtectedHeader({ alg: ALGORITHM, typ: TYPE }).sign(rootKey)
}

/**
 * Makes of a way to fetch a signed set a way to fetch keys, for `createKeySet`.
 * @throws for a set that no root key has signed, and for one that is older than one before
 */
export function createVerifiedKeyFetcher (fetchSigned: () => Promise<string>, rootKeys: string[]): () => Promise<PublicJwk[]> {
  const roots = rootKeys.map(parseRootKey)
  let newest = 0
  return async () => {
    const { issuedAt, keys } = await verifySet(await fetchSigned(), roots)
    const now = Date.now()
    if (issuedAt > now + MAX_CLOCK_SKEW_MS) throw new Error('the set of keys is from the future: the clocks do not agree')
    if (issuedAt < now - MAX_AGE_MS || issuedAt < newest) throw new Error('the set of keys is an old one')
    newest = issuedAt
    return keys
  }
}

async function verifySet (signed: string, roots: KeyObject[]): Promise<SignedSet> {
  for (const root of roots) {
    const verified = await compactVerify(signed, root, { algorithms: [ALGORITHM] }).catch(() => undefined)
    if (verified?.protectedHeader.typ === TYPE) return JSON.parse(Buffer.from(verified.payload).toString()) as SignedSet
  }
  throw new Error('the set of keys is not signed by identity')
}
