import { FileTooLarge, reencodeImage, type Media } from '@tandem/media-kit'
import { ValidationError } from '@tandem/service-kit'

const MAX_BYTES = 5 * 1024 * 1024

/** What a client may put before the data, as browsers do. */
const prefix = /^data:[\w.+/-]{1,100};base64,/

export interface ImageUpload { base64: string, mimeType: string }

/** Re-encodes a picture that was sent in base64, and stores it. @returns its key */
export async function storeImage (media: Media, senderId: string, { base64, mimeType }: ImageUpload) {
  const data = base64.slice(0, 200).match(prefix) ? base64.slice(base64.indexOf(',') + 1) : base64
  // Phones break it into lines unless they are told not to; the alphabet for addresses and missing padding are as clear.
  const text = data.replace(/\s+/g, '')
  if (!/^[\w+/-]+={0,2}$/.test(text)) throw new ValidationError('image.base64 must be base64')
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length > MAX_BYTES) throw new FileTooLarge()
  const { key } = await media.store('private', await reencodeImage(bytes, mimeType, senderId))
  return key
}
