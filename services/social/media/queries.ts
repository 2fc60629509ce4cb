import { sql, type RawBuilder } from 'kysely'
import { isMediaKey, isVideoKey } from '@tandem/media-url-kit'
import type { ImageDetails, Media, Picture } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { ImageInVideo, MediaGone, VideoInImage } from '../errors.ts'
import type { Db } from '../tables.ts'

/** What is known of some images and videos, by their keys. */
export type StoredDetails = Record<string, ImageDetails>

/** The details of the images and videos with these keys, as one column of a query. */
export const detailsOf = (keys: RawBuilder<string[]>) =>
  sql<StoredDetails | null>`(
    select jsonb_object_agg(key, jsonb_build_object(
      'width', width, 'height', height, 'blurhash', blurhash, 'durationSeconds', duration_seconds,
      'poster', case when poster_width is not null then
        jsonb_build_object('width', poster_width, 'height', poster_height) end))
    from media
    -- Private copies of photos of another service have no sizes.
    where key = any(${keys}) and width > 0)`

/** An image or a video of a post or a story, as stored: a key, or a URL of another host. */
export function describeMedia (media: Media, details: StoredDetails | null, stored: string, type: Picture['type']) {
  const described = media.describe(stored, details?.[stored])
  // Of another host, nothing is known but what the author said.
  return isMediaKey(stored) ? described : { ...described, type }
}

/** Describes the images and videos of stories, in one query for a whole page. */
export async function createDescriber ({ db, media }: Pick<Deps, 'db' | 'media'>, images: string[]) {
  const keys = [...new Set(images.filter(isMediaKey))]
  const { details } = keys.length === 0
    ? { details: null }
    : await db.selectNoFrom(detailsOf(sql`${keys}::text[]`).as('details')).executeTakeFirstOrThrow()
  return (image: string, type: Picture['type']) => describeMedia(media, details, image, type)
}

/** @throws MediaGone */
export async function readStoredMedia (db: Db, key: string) {
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
