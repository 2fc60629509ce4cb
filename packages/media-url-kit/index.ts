import { createHmac, timingSafeEqual } from 'node:crypto'
import { Url } from '@tandem/process-kit'
import { Type } from 'typebox'

const MEDIA_KEY = /^(public|private)\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(webp|mp4)$/

/** Whether this is the key of a stored image or video. Keys below `private/` are only served through signed URLs. */
export const isMediaKey = (value: string) => MEDIA_KEY.test(value)
/** Whether this media key is that of a video. */
export const isVideoKey = (key: string) => key.endsWith('.mp4')
/** The key of the image that is shown until a video plays. A video may have none. */
export const posterKeyOf = (videoKey: string) => videoKey.replace(/\.mp4$/, '.webp')

/** The widths in pixels of the thumbnails of an image. An image has those that are narrower than itself. */
export const THUMBNAIL_WIDTHS = [160, 320, 640, 1080] as const
export type ThumbnailWidth = typeof THUMBNAIL_WIDTHS[number]

/** Where the thumbnail of an image is stored. It is no media key: clients name the image and a width. */
export const thumbnailKeyOf = (key: string, width: ThumbnailWidth) => key.replace(/\.webp$/, `-w${width}.webp`)

export const isPrivateMediaKey = (key: string) => key.startsWith('private/')

/** The URLs of public images, for services that keep their keys and no files. */
export interface MediaUrls {
  /** The URL of a stored value: of the key of one of our files; URLs of other hosts stay as they are. */
  urlOf(stored: string | null): string | null
  /** The value for a table: the key of our images and videos, other URLs as they are. */
  toStoredValue(url: string | null): string | null
}

/** @param cdnUrl the URL that serves stored images */
export function createMediaUrls (cdnUrl: string): MediaUrls {
  const baseUrl = `${cdnUrl.replace(/\/$/, '')}/`
  return {
    urlOf: (stored) => stored !== null && isMediaKey(stored) ? baseUrl + stored : stored,
    toStoredValue (url) {
      const path = url?.startsWith(baseUrl) ? url.slice(baseUrl.length) : ''
      return isMediaKey(path) ? path : url
    }
  }
}

/** The variable with the URL of uploaded images, for services that build it from keys. */
export const CdnUrl = () => Url({ description: 'The base URL that uploaded media are served from' })

/** All URLs of an image that are signed within one window are equal, so that caches can reuse them. */
export const SIGNING_WINDOW_SECONDS = 30 * 60
/**
 * How long a signature is valid from the start of its window, which makes 30 to 60 minutes from the moment of signing.
 */
export const SIGNATURE_TTL_SECONDS = 60 * 60

/** The start of the signing window that contains `nowMs`, in seconds since 1970. */
export const windowStartSeconds = (nowMs: number) =>
  Math.floor(nowMs / 1_000 / SIGNING_WINDOW_SECONDS) * SIGNING_WINDOW_SECONDS

/** The variable with the secrets that sign URLs of private images. The first one signs; all of them verify. */
export const MediaSigningKey = () =>
  Type.String({
    pattern: '^[^,]{32,}(,[^,]{32,})*$',
    description:
      'The secret that signs URLs of private images; further secrets, which are only accepted, follow after commas'
  })

export interface UrlSigner {
  /** The query string that grants access to the image for 30 to 60 minutes. */
  sign(key: string): string
  /** How many seconds the query string remains valid; undefined if it is not valid. */
  verify(key: string, query: { expires?: unknown, signature?: unknown }): number | undefined
}

/** @param secrets the value of the variable, separated by commas */
export function createUrlSigner (secrets: string, now = Date.now): UrlSigner {
  const accepted = secrets.split(',')
  const macOf = (secret: string, key: string, expires: string) =>
    createHmac('sha256', secret).update(`${key}\n${expires}`).digest()

  return {
    sign (key) {
      const expires = String(windowStartSeconds(now()) + SIGNATURE_TTL_SECONDS)
      return `expires=${expires}&signature=${macOf(accepted[0] ?? '', key, expires).toString('base64url')}`
    },
    verify (key, { expires, signature }) {
      if (typeof expires !== 'string' || typeof signature !== 'string' || !/^[1-9]\d{0,10}$/.test(expires)) return
      const remainingSeconds = Number(expires) - Math.floor(now() / 1_000)
      if (remainingSeconds <= 0 || remainingSeconds > SIGNATURE_TTL_SECONDS) return
      const given = Buffer.from(signature, 'base64url')
      const isSigned = accepted.some((secret) => {
        const mac = macOf(secret, key, expires)
        return mac.length === given.length && timingSafeEqual(mac, given)
      })
      return isSigned ? remainingSeconds : undefined
    }
  }
}
