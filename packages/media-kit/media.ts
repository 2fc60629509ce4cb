import type { Readable } from 'node:stream'
import {
  createUrlSigner,
  isMediaKey,
  isPrivateMediaKey,
  isVideoKey,
  posterKeyOf,
  THUMBNAIL_WIDTHS,
  thumbnailKeyOf,
  type ThumbnailWidth
} from '@tandem/media-url-kit'
import { thumbnailHeight, type Image } from './images.ts'
import { createMediaKey, type Visibility } from './keys.ts'
import type { Picture } from './picture.ts'
import { createPurge } from './purge.ts'
import type { ByteRange, Storage } from './storage.ts'

export const VIDEO_TYPE = 'video/mp4'

/** A stored image. The service records its owner. */
export interface StoredImage {
  key: string
  mimeType: string
  width: number
  height: number
  blurhash: string
  bytes: number
}

/** What a service knows about a stored image or video. Those of other hosts have no sizes. */
export interface ImageDetails {
  width: number | null
  height: number | null
  blurhash: string | null
  /** Only of a video. */
  durationSeconds?: number | null
  /** The size of its poster, if it has one. */
  poster?: { width: number, height: number } | null
}

/**
 * Stores images by key. Tables hold keys, or external URLs as clients sent them, but never URLs of ours: these are
 * built for each response, so a changed CDN_URL changes all of them at once.
 */
export interface Media {
  /** The prefix of all our URLs. */
  baseUrl: string
  /**
   * Stores a new image under a random key.
   * @param record notes the key in a table. It runs first, so that a killed process leaves no file that nobody knows.
   */
  store(
    visibility: Visibility,
    image: Image,
    record: (stored: StoredImage) => Promise<unknown>
  ): Promise<StoredImage>
  /**
   * Stores the file of a video under its key, and its poster. Record the key before: a process may end between the two.
   * @throws Unavailable
   */
  storeVideo(key: string, file: string, poster: Image | undefined): Promise<void>
  /**
   * Copies an image, or a video with its poster, to the key `to`. Does nothing if it does not exist.
   * @returns whether it exists
   */
  copy(key: string, to: string): Promise<boolean>
  /** The bytes of an image; undefined if it does not exist. */
  find(key: string): Promise<Buffer | undefined>
  /** Reads an image or a video with constant memory; undefined if it does not exist. */
  read(key: string, range?: ByteRange): Promise<Readable | undefined>
  /** The length of an image or a video in bytes; undefined if it does not exist. */
  size(key: string): Promise<number | undefined>
  /**
   * Deletes an image, or a video with its poster, also from the caches of the CDN. Does nothing if it does not exist.
   * @throws Unavailable
   */
  remove(key: string): Promise<void>
  /**
   * The URL of a stored value. The URL of a private image is signed and valid for 30 to 60 minutes: call it only for
   * people who may see the image now.
   */
  urlOf(stored: string): string
  urlOf(stored: string | null): string | null
  /**
   * The image or video as the API returns it, with the URLs of its thumbnails. The same caution as for `urlOf` applies.
   */
  describe(stored: string, details?: ImageDetails | null): Picture
  /**
   * Converts a URL from a client or another service to the value for a table: the key of our images, however the URL is
   * spelled, other URLs as they are.
   */
  toStoredValue(url: string): string
  toStoredValue(url: string | null): string | null
  /** Whether a client may publish this URL. Below our own prefix, that is an image or a video only. */
  isAllowedUrl(url: string): boolean
}

export interface MediaOptions {
  storage: Storage
  /** The URL that serves stored images. */
  cdnUrl: string
  /**
   * Whether only our own images may be published. It prevents other servers from tracking who views their images.
   * Default false.
   */
  ownUrlsOnly?: boolean
  /** The secrets that sign URLs of private images, unless the store signs them itself. */
  signingKey?: string | undefined
  /** Takes requests to remove deleted images from the caches of the CDN. */
  purgeUrl?: string | undefined
  purgeToken?: string | undefined
}

export function createMedia (
  { storage, cdnUrl, ownUrlsOnly = false, signingKey, purgeUrl, purgeToken }: MediaOptions
): Media {
  const purge = purgeUrl === undefined ? undefined : createPurge(purgeUrl, purgeToken)
  const signer = signingKey === undefined ? undefined : createUrlSigner(signingKey)
  const baseUrl = `${cdnUrl.replace(/\/$/, '')}/`

  // If the store itself signs, URLs of private images have the prefix of the store.
  const ownAddresses = [baseUrl, storage.presign?.('')].flatMap((each) => addressOf(each ?? '') ?? [])
  const pathOf = (url: string) => {
    const address = addressOf(url)
    const own = ownAddresses.find((each) => address?.startsWith(each))
    // An object store has a URL for each thumbnail, which stands for its image.
    return own === undefined ? undefined : address?.slice(own.length).replace(/-w\d+\.webp$/, '.webp')
  }

  function urlOf (stored: string): string
  function urlOf (stored: string | null): string | null
  function urlOf (stored: string | null) {
    if (stored === null || !isMediaKey(stored)) return stored
    if (!isPrivateMediaKey(stored)) return baseUrl + stored
    if (storage.presign) return storage.presign(stored)
    if (!signer) throw new Error('the URL of a private image needs a signing key: set MEDIA_SIGNING_KEY')
    return `${baseUrl}${stored}?${signer.sign(stored)}`
  }

  function toStoredValue (url: string): string
  function toStoredValue (url: string | null): string | null
  function toStoredValue (url: string | null) {
    const path = url === null ? undefined : pathOf(url)
    return path !== undefined && isMediaKey(path) ? path : url
  }

  function thumbnailUrlOf (key: string, width: ThumbnailWidth) {
    if (storage.presign) {
      const thumbnail = thumbnailKeyOf(key, width)
      return isPrivateMediaKey(key) ? storage.presign(thumbnail) : baseUrl + thumbnail
    }
    // The gateway serves it. The signature of a private image covers its thumbnails.
    return `${urlOf(key)}${isPrivateMediaKey(key) ? '&' : '?'}w=${width}`
  }

  const thumbnailsOf = (key: string, image: { width: number, height: number }) =>
    THUMBNAIL_WIDTHS.filter((each) => each < image.width).map((each) => ({
      url: thumbnailUrlOf(key, each),
      width: each,
      height: thumbnailHeight(image, each)
    }))

  async function storeImage (key: string, { bytes, mimeType, thumbnails }: Image) {
    await Promise.all(
      thumbnails.map(async (each) => await storage.put(thumbnailKeyOf(key, each.width), each.bytes, mimeType))
    )
    await storage.put(key, bytes, mimeType)
  }

  async function copyImage (key: string, to: string) {
    const bytes = await storage.find(key)
    if (!bytes) return false
    await Promise.all(THUMBNAIL_WIDTHS.map(async (width) => {
      const thumbnail = await storage.find(thumbnailKeyOf(key, width))
      if (thumbnail) await storage.put(thumbnailKeyOf(to, width), thumbnail, 'image/webp')
    }))
    await storage.put(to, bytes, 'image/webp')
    return true
  }

  async function removeImage (key: string) {
    await Promise.all(THUMBNAIL_WIDTHS.map(async (width) => await storage.remove(thumbnailKeyOf(key, width))))
    await storage.remove(key)
    // Afterwards, so that no cache fetches it again. Private images are cached by clients only.
    if (purge && !isPrivateMediaKey(key)) {
      await purge([urlOf(key), ...THUMBNAIL_WIDTHS.map((width) => thumbnailUrlOf(key, width))])
    }
  }

  return {
    baseUrl,
    urlOf,
    describe (stored, details) {
      const { width, height, blurhash } = details ?? { width: null, height: null, blurhash: null }
      const common = { url: urlOf(stored), width, height, blurhash }
      if (isMediaKey(stored) && isVideoKey(stored)) {
        const posterKey = posterKeyOf(stored)
        const { durationSeconds, poster } = details ?? {}
        return {
          type: 'VIDEO',
          ...common,
          thumbnails: poster ? thumbnailsOf(posterKey, poster) : [],
          posterUrl: poster ? urlOf(posterKey) : null,
          ...(typeof durationSeconds === 'number' && { durationSeconds })
        }
      }
      const hasThumbnails = width !== null && height !== null && blurhash !== null && isMediaKey(stored)
      return { type: 'IMAGE', ...common, thumbnails: hasThumbnails ? thumbnailsOf(stored, { width, height }) : [] }
    },
    async store (visibility, image, record) {
      const key = createMediaKey(visibility)
      const { bytes, mimeType, width, height, blurhash } = image
      const stored = { key, mimeType, width, height, blurhash, bytes: bytes.length }
      await record(stored)
      await storeImage(key, image)
      return stored
    },
    async storeVideo (key, file, poster) {
      if (poster) await storeImage(posterKeyOf(key), poster)
      await storage.putFile(key, file, VIDEO_TYPE)
    },
    async copy (key, to) {
      if (!isVideoKey(key)) return await copyImage(key, to)
      const video = await storage.read(key)
      if (!video) return false
      try {
        await copyImage(posterKeyOf(key), posterKeyOf(to))
        await storage.putStream(to, video, VIDEO_TYPE)
      } finally {
        // Node ends the process when it collects a file that is still open.
        video.destroy()
      }
      return true
    },
    find: async (key) => await storage.find(key),
    read: async (key, range) => await storage.read(key, range),
    size: async (key) => await storage.size(key),
    async remove (key) {
      if (!isVideoKey(key)) return await removeImage(key)
      await removeImage(posterKeyOf(key))
      await storage.remove(key)
      if (purge && !isPrivateMediaKey(key)) await purge([urlOf(key)])
    },
    toStoredValue,
    isAllowedUrl (url) {
      const path = pathOf(url)
      return path === undefined ? !ownUrlsOnly : isMediaKey(path)
    }
  }
}

/** Host and path of a URL. Spellings that lead to the same file, such as `/./`, `%70` or a fragment, have the same. */
function addressOf (url: string) {
  const parsed = URL.parse(url)
  if (!parsed) return
  try {
    return parsed.host + decodeURIComponent(parsed.pathname)
  } catch {
    return
  }
}
