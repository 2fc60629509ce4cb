import { sql, type UpdateResult } from 'kysely'
import { NIL_UUID } from '@tandem/http-kit'
import { createMediaKey, privateCopyKeyOf } from '@tandem/media-kit'
import { isMediaKey, isPrivateMediaKey, isVideoKey } from '@tandem/media-url-kit'
import { runSteps, settleBatches, throwErrors } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { MediaNotAllowed, MediaGone } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { replaceMedia, deleteMarked } from './actions.ts'
import { copyOnce, replaceEach } from './copies.ts'

// An upload is public at a URL that nobody can guess. Posts that are not public, and all stories, show the upload's
// single private copy instead. Its URL is signed each time it is returned.

/**
 * Rejects private images that the account does not own: showing them would hand them to others.
 * @throws MediaNotAllowed
 */
export async function ensureOwnPrivateImages (db: Db, accountId: string, images: string[]) {
  const keys = images.filter((image) => isMediaKey(image) && isPrivateMediaKey(image))
  if (keys.length === 0) return
  const own = await db.selectFrom('media').where('key', 'in', keys).where('account_id', '=', accountId).select('key')
    .execute()
  if (keys.some((key) => !own.some((image) => image.key === key))) throw new MediaNotAllowed()
}

/**
 * Replaces public uploads in `images` with their private copies, for a post or story that is not public.
 * @throws MediaGone, Unavailable
 */
export const toPrivateImages = async (deps: Pick<Deps, 'db' | 'media'>, accountId: string, images: string[]) =>
  await replaceEach(images, async (image) => await toPrivateImage(deps, accountId, image))

// For stories and posts that were deleted within a month.
const MAX_COPIES = 50

/** The same for one image. @throws MediaGone, Unavailable */
export async function toPrivateImage (deps: Pick<Deps, 'db' | 'media'>, accountId: string, image: string) {
  if (!isMediaKey(image) || isPrivateMediaKey(image)) return image
  const { db, media } = deps
  const find = async (...keys: string[]) =>
    await db.selectFrom('media').where('key', 'in', keys).select(['key', 'unused_since', 'delete_requested_at'])
      .execute()
  const [upload] = await find(image)
  // A photo of another service has no owner here: each author has a copy, which is erased with them.
  const copies = [privateCopyKeyOf(image, upload ? undefined : accountId)]
  while (copies.length < MAX_COPIES) copies.push(privateCopyKeyOf(copies.at(-1)!))
  const rows = new Map((await find(...copies)).map((row) => [row.key, row]))
  // A copy goes with what showed it, and is refused for a month. The upload may outlive it, and then gets another one.
  const copy = copies.find((key) => !rows.get(key)?.delete_requested_at)
  if (copy === undefined) throw new MediaGone()
  const known = rows.get(copy)
  // What a post or story shows was copied to the end.
  if (known?.unused_since === null) return copy
  if (upload?.delete_requested_at || !upload && isVideoKey(image)) throw new MediaGone()
  if (await media.size(image) === undefined) throw new MediaGone()
  // The row first, so that no file is left without one. Of a photo of another service the sizes are not known.
  await sql`
    insert into media (key, account_id, mime_type, width, height, bytes, blurhash, duration_seconds, poster_width,
      poster_height)
    select ${copy}, coalesce(upload.account_id, ${accountId}), coalesce(mime_type, 'image/webp'),
      coalesce(width, 0), coalesce(height, 0), coalesce(bytes, 0), blurhash, duration_seconds, poster_width,
      poster_height
    from (select 1) as one left join media as upload on upload.key = ${image}
    on conflict (key) do nothing`.execute(db)
  await copyOnce(deps, accountId, { from: image, to: copy })
  return copy
}

const BATCH_SIZE = 50

/** Replaces public images with private copies in all posts that are not public, and in all stories. */
export async function replacePublicImages (deps: Pick<Deps, 'db' | 'media'>) {
  const { db } = deps
  await runSteps({
    posts: async () =>
      await replaceInBatches(
        async (after) =>
          await postsWithPublicImages(db).where('id', '>', after).select('id').orderBy('id').limit(BATCH_SIZE)
            .execute(),
        async (id) => await replacePublicImagesOfPost(deps, id)
      ),
    stories: async () =>
      await replaceInBatches(
        async (after) =>
          await storiesWithPublicImage(db).where('id', '>', after).select('id').orderBy('id').limit(BATCH_SIZE)
            .execute(),
        async (id) => await replacePublicImageOfStory(deps, id)
      )
  })
}

/** One after the other, each also after others have failed. */
async function replaceInBatches (
  list: (after: string) => Promise<{ id: string }[]>,
  work: (id: string) => Promise<void>
) {
  throwErrors(
    await settleBatches({
      batchSize: BATCH_SIZE,
      concurrency: 1,
      list: async (after = NIL_UUID) => (await list(after)).map(({ id }) => id),
      work
    })
  )
}

/** The predicate of an index. */
export const postsWithPublicImages = (db: Db) =>
  db.selectFrom('posts').where(sql<boolean>`visibility <> 'PUBLIC' and deleted_at is null and media_urls <> '{}'
    and shows_public_image(media_urls)`)

const storiesWithPublicImage = (db: Db) =>
  db.selectFrom('stories').where('cleared_at', 'is', null).where('media_url', 'like', 'public/%')

/** The same for one post. */
export async function replacePublicImagesOfPost (deps: Pick<Deps, 'db' | 'media'>, id: string) {
  const post = await postsWithPublicImages(deps.db).where('id', '=', id)
    .select(['author_id as accountId', 'media_urls as images']).executeTakeFirst()
  if (!post) return
  const { accountId, images } = post
  await replaceImages(
    deps,
    accountId,
    images,
    async (trx, replacement) =>
      await trx.updateTable('posts').set({ media_urls: replacement })
        .where('id', '=', id).where(sql<boolean>`media_urls = ${images}::text[]`).where('visibility', '<>', 'PUBLIC')
        .where('deleted_at', 'is', null).executeTakeFirstOrThrow()
  )
}

async function replacePublicImageOfStory (deps: Pick<Deps, 'db' | 'media'>, id: string) {
  const story = await storiesWithPublicImage(deps.db).where('id', '=', id)
    .select(['author_id as accountId', 'media_url as image']).executeTakeFirst()
  if (!story) return
  const { accountId, image } = story
  await replaceImages(
    deps,
    accountId,
    [image],
    async (trx, [replacement = image]) =>
      await trx.updateTable('stories').set({ media_url: replacement })
        .where('id', '=', id).where('media_url', '=', image).executeTakeFirstOrThrow()
  )
}

async function replaceImages (
  deps: Pick<Deps, 'db' | 'media'>,
  accountId: string,
  images: string[],
  replace: (trx: Trx, replacement: string[]) => Promise<UpdateResult>
) {
  const replacement = await replaceEach(
    images,
    async (image) =>
      await toPrivateImage(deps, accountId, image).catch((error: unknown) => {
        if (!(error instanceof MediaGone)) throw error
        // A deleted image cannot be seen, so no copy is needed. The key is new: a deleted copy could not be shown.
        return createMediaKey('private', isVideoKey(image) ? 'mp4' : 'webp')
      })
  )
  await deps.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await replace(trx, replacement)
    if (numUpdatedRows > 0n) await replaceMedia(trx, accountId, { before: images, after: replacement })
  })
  await deleteMarked(deps, images)
}
