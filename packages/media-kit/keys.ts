import { createHash, randomUUID } from 'node:crypto'
import { isVideoKey } from '@tandem/media-url-kit'

/** Whether everybody who knows an image's URL may see it. */
export type Visibility = 'public' | 'private'

/** Creates a random key that reveals nothing about the owner of the image or video. */
export const createMediaKey = (visibility: Visibility, extension: 'webp' | 'mp4' = 'webp') =>
  `${visibility}/${randomUUID()}.${extension}`

/**
 * The key of the one private copy of an image or video, or of the one that `accountId` has. It is a digest, so
 * people who may see the copy cannot derive the public URL.
 */
export const privateCopyKeyOf = (key: string, accountId?: string) =>
  `private/${digestOf(`copy of ${key}${accountId === undefined ? '' : ` of ${accountId}`}`)}.${
    isVideoKey(key) ? 'mp4' : 'webp'
  }`

const digestOf = (text: string) =>
  createHash('sha256').update(text).digest('hex').slice(0, 32).replace(
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    '$1-$2-$3-$4-$5'
  )
