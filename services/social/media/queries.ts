import { isMediaKey } from '@tandem/media-url-kit'
import type { ImageDetails, Media, Picture } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'

/**
 * Describes the images of posts or stories, in one query for a whole page.
 * @param images as stored: keys, or URLs of other hosts
 */
export async function createDescriber ({ db, media }: Pick<Deps, 'db' | 'media'>, images: string[]) {
  const keys = [...new Set(images.filter(isMediaKey))]
  const rows = keys.length === 0 ? [] : await db.selectFrom('media').where('key', 'in', keys)
    // Private copies of photos of another service have no sizes.
    .where('width', '>', 0)
    .select(['key', 'width', 'height', 'blurhash']).execute()
  const details = new Map<string, ImageDetails>(rows.map(({ key, ...row }) => [key, row]))
  return (image: string, type: Picture['type']): ReturnType<Media['describe']> => ({
    ...media.describe(image, details.get(image)),
    // An upload is always an image, whatever the author said.
    type: isMediaKey(image) ? 'IMAGE' : type
  })
}
