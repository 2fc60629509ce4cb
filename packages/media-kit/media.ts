import { randomUUID } from 'node:crypto'
import type { Image } from './images.ts'
import type { Storage } from './storage.ts'

/** An image that is kept and shown under `url`. */
export interface StoredImage { url: string, key: string, mimeType: string, width: number, height: number, bytes: number }

export interface Media {
  /** Keeps an image under a key that nobody can guess, in a folder of its owner's. */
  store (folder: string, accountId: string, image: Image): Promise<StoredImage>
  /** Deletes the image shown at `url` if it is one of this owner's, else does nothing. */
  discard (accountId: string, url: string): Promise<void>
  /** The key of the image shown at `url`, if it is one from here. */
  keyOf (url: string): string | undefined
  urlOf (key: string): string
  /** Whether a client may have this address shown to others. */
  accepts (url: string): boolean
  /** As `accepts`, but of what was uploaded here only what this owner uploaded: for photos that are to be his own. */
  acceptsFrom (accountId: string, url: string): boolean
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

  function ownKeyOf (accountId: string, url: string) {
    const key = url.startsWith(base) ? url.slice(base.length) : ''
    const [, owner] = /^[a-z-]+\/([0-9a-f-]{36})\/[0-9a-f-]{36}\.webp$/.exec(key) ?? []
    return owner === accountId ? key : undefined
  }

  return {
    async store (folder, accountId, { bytes, mimeType, width, height }) {
      const key = `${folder}/${accountId}/${randomUUID()}.webp`
      await storage.put(key, bytes, mimeType)
      return { url: base + key, key, mimeType, width, height, bytes: bytes.length }
    },
    async discard (accountId, url) {
      const key = ownKeyOf(accountId, url)
      if (key) await storage.remove(key)
    },
    keyOf: (url) => (url.startsWith(base) ? url.slice(base.length) : undefined),
    urlOf: (key) => base + key,
    accepts: (url) => !onlyOwn || url.startsWith(base),
    acceptsFrom (accountId, url) {
      if (onlyOwn) return ownKeyOf(accountId, url) !== undefined
      // However it goes on: with a query, another's picture is still another's.
      const [, owner = accountId] = url.startsWith(base) ? /^[a-z-]+\/([0-9a-f-]{36})\//.exec(url.slice(base.length)) ?? [] : []
      return owner === accountId
    }
  }
}
