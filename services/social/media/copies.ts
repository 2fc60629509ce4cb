import { useDailyQuota } from '@tandem/database-kit'
import { RateLimited } from '@tandem/http-kit'
import { createMediaKey } from '@tandem/media-kit'
import { isMediaKey, isPrivateMediaKey, isVideoKey } from '@tandem/media-url-kit'
import { createFairQueue, Unavailable } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { MediaGone } from '../errors.ts'
import { findToday } from '../people/actions.ts'

const MAX_PHOTOS_PER_DAY = 500

// A request of a kilobyte can show ten videos of 50 MB.
const enqueue = createFairQueue({
  concurrency: 4,
  concurrencyPerOwner: 1,
  maxWaiting: 200,
  maxWaitingPerOwner: 20,
  createError: () => new Unavailable()
})

/**
 * Copies an image or a video, one of an account at once, unless there is a copy: a file is stored as a whole, after its
 * thumbnails. @throws MediaGone, Unavailable
 */
export async function copyOnce (
  { media }: Pick<Deps, 'media'>,
  accountId: string,
  { from, to }: { from: string, to: string }
) {
  const isCopied = await enqueue(
    accountId,
    async () => await media.size(to) !== undefined || await media.copy(from, to)
  )
  if (!isCopied) throw new MediaGone()
}

/** Replaces each image in `images` by what `replace` returns for it, which is called once for equal ones. */
export async function replaceEach (images: string[], replace: (image: string) => Promise<string>) {
  const replaced = new Map(
    await Promise.all([...new Set(images)].map(async (image) => [image, await replace(image)] as const))
  )
  return images.map((image) => replaced.get(image) ?? image)
}

/**
 * Copies photos of other services, for a public post: they delete theirs without knowing of it. Posts that are not
 * public, and stories, show private copies anyway.
 * @throws MediaGone, RateLimited, Unavailable
 */
export async function copyPhotosOfOthers (deps: Deps, accountId: string, images: string[]) {
  const { db, media } = deps
  const keys = [...new Set(images.filter((image) => isMediaKey(image) && !isPrivateMediaKey(image)))]
  if (keys.length === 0) return images
  const known = await db.selectFrom('media').where('key', 'in', keys).select('key').execute()
  const foreign = keys.filter((key) => !known.some((row) => row.key === key))
  if (foreign.length === 0) return images
  // Videos are uploaded here only.
  if (foreign.some(isVideoKey)) throw new MediaGone()
  const sizes = await Promise.all(foreign.map(async (key) => await media.size(key)))
  if (sizes.includes(undefined)) throw new MediaGone()
  await countPhotos(deps, accountId, foreign.length)
  return await replaceEach(images, async (image) => {
    if (!foreign.includes(image)) return image
    const to = createMediaKey('public')
    // Before the file, so that no file is left without a row. Its sizes are not known here.
    await db.insertInto('media')
      .values({ key: to, account_id: accountId, mime_type: 'image/webp', width: 0, height: 0, bytes: 0 }).execute()
    await copyOnce(deps, accountId, { from: image, to })
    return to
  })
}

/** Each post keeps copies of its own, so they are counted. @throws RateLimited */
async function countPhotos (deps: Deps, accountId: string, amount: number) {
  const day = await findToday(deps, accountId)
  const quota = { name: 'copied photos', accountId, day, limit: MAX_PHOTOS_PER_DAY, amount }
  if (await useDailyQuota(deps.db, quota) === undefined) {
    throw new RateLimited(Math.ceil((day.endsAt.getTime() - Date.now()) / 1_000))
  }
}
