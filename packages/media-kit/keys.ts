import { createHash, randomUUID } from 'node:crypto'

/** Whether everybody who knows an image's URL may see it. */
export type Visibility = 'public' | 'private'

/** Creates a random key that reveals nothing about the image's owner. */
export const createMediaKey = (visibility: Visibility) => `${visibility}/${randomUUID()}.webp`

/**
 * The key of the one private copy of a public image. It is a digest, so people who may see the copy cannot derive the
 * public URL.
 */
export const privateCopyKeyOf = (key: string) => `private/${digestOf(`copy of ${key}`)}.webp`

const digestOf = (text: string) =>
  createHash('sha256').update(text).digest('hex').slice(0, 32).replace(
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
    '$1-$2-$3-$4-$5'
  )
