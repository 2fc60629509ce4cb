import { createUrlSigner, isMediaKey, isPrivateMediaKey } from '@tandem/service-kit'
import type { Image } from './images.ts'
import { createMediaKey, keyAfterMove, type Visibility, type FormerFolder } from './keys.ts'
import { moveFormerImages } from './moving.ts'
import type { Storage } from './storage.ts'

/** An image that is stored. Its owner is for the service to note. */
export interface StoredImage { key: string, mimeType: string, width: number, height: number, bytes: number }

/**
 * Images by key. Tables hold keys, or addresses of elsewhere as a client named them, and no address of ours: it is made when it is
 * shown, so a changed CDN_URL changes all of them at once.
 */
export interface Media {
  /** The address that all others begin with. */
  baseUrl: string
  store (audience: Visibility, image: Image): Promise<StoredImage>
  /** Stores the same image under `to`, or does nothing when there is no such image. @returns whether there is one */
  copy (key: string, to: string): Promise<boolean>
  /** Does nothing when there is no such image. */
  remove (key: string): Promise<void>
  /** The address of a stored value. That of a private image is signed and holds for 30 to 60 minutes: only for who may see it just now. */
  urlOf (stored: string): string
  urlOf (stored: string | null): string | null
  /** What a table holds of an address that a client or another service named. */
  toStoredValue (url: string): string
  /** Moves images whose keys named their owner. To be called now and then; see moveFormerImages. @returns how many it moved */
  moveFormer (folders: FormerFolder[]): Promise<number>
  /** Whether a client may have this address shown to others. */
  isAllowedUrl (url: string): boolean
}

export interface MediaOptions {
  storage: Storage
  /** The address that stored images are served under. */
  cdnUrl: string
  /** Whether only images from here may be shown, which keeps others from learning who looks at theirs. */
  ownUrlsOnly?: boolean
  /** The secrets that addresses of private images are signed with, unless the store signs them itself. */
  signingKey?: string
}

export function createMedia ({ storage, cdnUrl, ownUrlsOnly = false, signingKey }: MediaOptions): Media {
  const signer = signingKey === undefined ? undefined : createUrlSigner(signingKey)
  const baseUrl = `${cdnUrl.replace(/\/$/, '')}/`

  // Where the store itself signs, the address of a private image begins as its own.
  const signedBase = storage.presign?.('').split('?', 1)[0]
  const pathOf = (url: string) => {
    const start = [baseUrl, signedBase].find((each) => each !== undefined && url.startsWith(each))
    return start === undefined ? undefined : url.slice(start.length).split('?', 1)[0]
  }

  function urlOf (stored: string): string
  function urlOf (stored: string | null): string | null
  function urlOf (stored: string | null) {
    if (stored === null || !isMediaKey(stored)) return stored
    if (!isPrivateMediaKey(stored)) return baseUrl + stored
    if (storage.presign) return storage.presign(stored)
    if (!signer) throw new Error('there is no key to sign the address of a private image with')
    return `${baseUrl}${stored}?${signer.sign(stored)}`
  }

  return {
    baseUrl,
    urlOf,
    async store (audience, { bytes, mimeType, width, height }) {
      const key = createMediaKey(audience)
      await storage.put(key, bytes, mimeType)
      return { key, mimeType, width, height, bytes: bytes.length }
    },
    async copy (key, to) {
      const bytes = await storage.find(key)
      if (bytes) await storage.put(to, bytes, 'image/webp')
      return bytes !== undefined
    },
    remove: async (key) => await storage.remove(key),
    toStoredValue (url) {
      const path = pathOf(url)
      if (path === undefined) return url
      // Clients may still hold addresses from before images were moved.
      const key = keyAfterMove(path) ?? path
      return isMediaKey(key) ? key : url
    },
    moveFormer: async (folders) => await moveFormerImages(storage, folders),
    isAllowedUrl: (url) => !ownUrlsOnly || pathOf(url) !== undefined
  }
}
