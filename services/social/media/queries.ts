import { isMediaKey, isVideoKey } from '@tandem/media-url-kit'
import type { ImageDetails, Media, Picture } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { ImageInVideo, MediaGone, VideoInImage } from '../errors.ts'
import type { Db } from '../tables.ts'

/**
 * Describes the images and videos of posts or stories, in one query for a whole page.
 * @param images as stored: keys, or URLs of other hosts
 */
export async function createDescriber ({ db, media }: Pick<Deps, 'db' | 'media'>, images: string[]) {
  const keys = [...new Set(images.filter(isMediaKey))]
  const rows = keys.length === 0 ? [] : await db.selectFrom('media').where('key', 'in', keys)
    // Private copies of photos of another service have no sizes.
    .where('width', '>', 0)
    .select([
      'key',
      'width',
      'height',
      'blurhash',
      'duration_seconds as durationSeconds',
      'poster_width',
      'poster_height'
    ]).execute()
  const details = new Map<string, ImageDetails>(
    rows.map(({ key, poster_width: width, poster_height: height, ...row }) => [
      key,
      { ...row, poster: width !== null && height !== null ? { width, height } : null }
    ])
  )
  return (image: string, type: Picture['type']): ReturnType<Media['describe']> => {
    const described = media.describe(image, details.get(image))
    // Of another host, nothing is known but what the author said.
    return isMediaKey(image) ? described : { ...described, type }
  }
}

/** @throws MediaGone */
export async function findStoredMedia (db: Db, key: string) {
  const stored = await db.selectFrom('media').where('key', '=', key).where('delete_requested_at', 'is', null)
    .select(['key', 'mime_type as mimeType', 'width', 'height', 'blurhash', 'bytes']).executeTakeFirst()
  if (!stored || stored.blurhash === null) throw new MediaGone()
  return { ...stored, blurhash: stored.blurhash }
}

/** How many seconds a stored video takes. @throws MediaGone */
export async function readDuration (db: Db, key: string) {
  const video = await db.selectFrom('media').where('key', '=', key).select('duration_seconds as seconds')
    .executeTakeFirst()
  if (typeof video?.seconds !== 'number') throw new MediaGone()
  return video.seconds
}

/**
 * Checks that images are shown as images, and videos as videos. What other hosts have is not known.
 * @throws VideoInImage, ImageInVideo
 */
export function checkTypes (stored: string[], type: 'IMAGE' | 'VIDEO') {
  const ours = stored.filter(isMediaKey)
  if (type === 'IMAGE' && ours.some(isVideoKey)) throw new VideoInImage()
  if (type === 'VIDEO' && !ours.every(isVideoKey)) throw new ImageInVideo()
}
