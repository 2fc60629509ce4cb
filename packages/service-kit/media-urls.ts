import { createHmac, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'

const KEY = /^(public|private)\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.webp$/

/** Whether this is the key of a stored image. Those below `private/` are only shown under a signed address. */
export const isMediaKey = (value: string) => KEY.test(value)
export const isPrivateMediaKey = (key: string) => key.startsWith('private/')

/** In seconds. All addresses of an image that are signed within one are the same, so that caches find it again. */
export const SIGNING_WINDOW_SECONDS = 30 * 60
/** In seconds, from the beginning of the window in which an address is signed: it holds for 30 to 60 minutes. */
export const SIGNATURE_TTL_SECONDS = 60 * 60

/** The moment, in seconds, at which the window of `now`, in milliseconds, began. */
export const windowStartSeconds = (now: number) => Math.floor(now / 1_000 / SIGNING_WINDOW_SECONDS) * SIGNING_WINDOW_SECONDS

/** The variable that holds the secrets which addresses of private images are signed with: the first one signs, all are accepted. */
export const MediaSigningKey = () => Type.String({
  pattern: '^[^,]{32,}(,[^,]{32,})*$', description: 'The secret that addresses of private images are signed with; others that are still accepted follow after commas'
})

export interface UrlSigner {
  /** The query with which the image may be had for 30 to 60 minutes. */
  sign (key: string): string
  /** For how many seconds the image may still be had by this query; undefined when it may not. */
  verify (key: string, query: { expires?: unknown, signature?: unknown }): number | undefined
}

/** @param secrets as the variable has them */
export function createUrlSigner (secrets: string, now = Date.now): UrlSigner {
  const accepted = secrets.split(',')
  const macOf = (secret: string, key: string, expires: string) => createHmac('sha256', secret).update(`${key}\n${expires}`).digest()

  return {
    sign (key) {
      const expires = String(windowStartSeconds(now()) + SIGNATURE_TTL_SECONDS)
      return `expires=${expires}&signature=${macOf(accepted[0] ?? '', key, expires).toString('base64url')}`
    },
    verify (key, { expires, signature }) {
      if (typeof expires !== 'string' || typeof signature !== 'string' || !/^[1-9]\d{0,10}$/.test(expires)) return
      const left = Number(expires) - Math.floor(now() / 1_000)
      if (left <= 0 || left > SIGNATURE_TTL_SECONDS) return
      const given = Buffer.from(signature, 'base64url')
      const isSigned = accepted.some((secret) => {
        const mac = macOf(secret, key, expires)
        return mac.length === given.length && timingSafeEqual(mac, given)
      })
      return isSigned ? left : undefined
    }
  }
}
