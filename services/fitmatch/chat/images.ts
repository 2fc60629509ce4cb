import { useDailyQuota } from '@tandem/database-kit'
import {
  FileTooLarge,
  ImageQuotaExceeded,
  imageQuota,
  reencodeImage,
  type ImageDetails,
  type Media
} from '@tandem/media-kit'
import { ValidationError } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import type { Caller } from '../people/queries.ts'
import { noteNewFile } from '../photos/files.ts'
import { todayIn } from '../today.ts'

const MAX_BYTES = 5 * 1024 * 1024

/** The prefix of a data URL, which browsers put before the data. */
const prefix = /^data:[\w.+/-]{1,100};base64,/

export interface ImageUpload {
  base64: string
  mimeType: string
}

/**
 * Re-encodes and stores an image that was sent in base64. `client` is as for `reencodeImage`.
 * @throws ValidationError, FileTooLarge, ImageQuotaExceeded, and the errors of reencodeImage
 */
export async function storeImage (
  { db, media }: Pick<Deps, 'db' | 'media'>,
  sender: Caller,
  { base64, mimeType }: ImageUpload,
  client: AbortSignal | undefined
) {
  const data = base64.slice(0, 200).match(prefix) ? base64.slice(base64.indexOf(',') + 1) : base64
  // Phones break base64 into lines by default. The URL-safe alphabet and missing padding are unambiguous, so accept
  // them too.
  const text = data.replace(/\s+/g, '')
  if (!/^[\w+/-]+={0,2}$/.test(text)) {
    throw new ValidationError('imageBase64MustBeBase64', ['image.base64'])
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > MAX_BYTES) throw new FileTooLarge()
  const { accountId, timezone } = sender
  const quota = { name: 'chat image bytes', accountId, day: todayIn(timezone), ...imageQuota(bytes.length) }
  if (await useDailyQuota(db, quota) === undefined) throw new ImageQuotaExceeded()
  const reencoded = await reencodeImage(bytes, mimeType, accountId, client)
  return await media.store('private', reencoded, async ({ key }) => await noteNewFile(db, key))
}

export type StoredImageMessage = ImageDetails & { imageUrl: string | null }

/** A stored message with the address and the description of its image. */
export function showImage<Stored extends StoredImageMessage> (media: Media, stored: Stored) {
  const { width, height, blurhash, ...message } = stored
  return {
    ...message,
    imageUrl: media.urlOf(message.imageUrl),
    image: message.imageUrl === null ? null : media.describe(message.imageUrl, { width, height, blurhash })
  }
}
