import type { Image } from './images.ts'
import { createKey, isKey, keyAfterMove, type Audience, type FormerFolder } from './keys.ts'
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
  base: string
  store (audience: Audience, image: Image): Promise<StoredImage>
  /** Stores the same image under a new key. @returns undefined when there is no such image */
  copy (key: string, audience: Audience): Promise<string | undefined>
  /** Does nothing when there is no such image. */
  remove (key: string): Promise<void>
  /** The address of a stored value. */
  urlOf (stored: string): string
  urlOf (stored: string | null): string | null
  /** What a table holds of an address that a client or another service named. */
  storedOf (url: string): string
  /** Moves images whose keys named their owner. To be called now and then; see moveFormerImages. @returns how many it moved */
  moveFormer (folders: FormerFolder[]): Promise<number>
  /** Whether a client may have this address shown to others. */
  accepts (url: string): boolean
}

export interface MediaOptions {
  storage: Storage
  /** The address that stored images are served under. */
  cdnUrl: string
  /** Whether only images from here may be shown, which keeps others from learning who looks at theirs. */
  onlyOwn?: boolean
}

export function createMedia ({ storage, cdnUrl, onlyOwn = false }: MediaOptions): Media {
  const base = `${cdnUrl.replace(/\/$/, '')}/`

  function urlOf (stored: string): string
  function urlOf (stored: string | null): string | null
  function urlOf (stored: string | null) {
    return stored !== null && isKey(stored) ? base + stored : stored
  }

  return {
    base,
    urlOf,
    async store (audience, { bytes, mimeType, width, height }) {
      const key = createKey(audience)
      await storage.put(key, bytes, mimeType)
      return { key, mimeType, width, height, bytes: bytes.length }
    },
    async copy (key, audience) {
      const bytes = await storage.find(key)
      if (!bytes) return
      const copied = createKey(audience)
      await storage.put(copied, bytes, 'image/webp')
      return copied
    },
    remove: async (key) => await storage.remove(key),
    storedOf (url) {
      if (!url.startsWith(base)) return url
      const path = url.slice(base.length)
      // Clients may still hold addresses from before images were moved.
      const key = keyAfterMove(path) ?? path
      return isKey(key) ? key : url
    },
    moveFormer: async (folders) => await moveFormerImages(storage, folders),
    accepts: (url) => !onlyOwn || url.startsWith(base)
  }
}
