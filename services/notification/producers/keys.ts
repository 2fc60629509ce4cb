import { createHash, randomBytes } from 'node:crypto'

const KEY = /^tp_live_[\w-]{43}$/
const HINT_LENGTH = 4

/** A key of a producer. Its prefix lets scanners find one that was published. */
export const createKey = () => `tp_live_${randomBytes(32).toString('base64url')}`

/** A random key of 256 bits needs no slow hash. */
export const digestOf = (key: string) => createHash('sha256').update(key).digest()

export const hintOf = (key: string) => key.slice(-HINT_LENGTH)

/** The key in a header `Authorization: Bearer tp_live_…`. */
export function readKey (authorization: string | undefined) {
  const [, key = ''] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return KEY.test(key) ? key : undefined
}
