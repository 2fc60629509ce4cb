import { sql, type SqlBool, type UpdateResult } from 'kysely'
import { privateCopyKeyOf } from '@tandem/media-kit'
import { isMediaKey, isPrivateMediaKey, isVideoKey } from '@tandem/media-url-kit'
import { runSteps, settleEach } from '@tandem/process-kit'
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
  await replaceEach(
    images,
    async (image) =>
      isMediaKey(image) && !isPrivateMediaKey(image) ? await ensurePrivateCopy(deps, accountId, image) : image
  )

async function ensurePrivateCopy (deps: Pick<Deps, 'db' | 'media'>, accountId: string, image: string) {
  const { db, media } = deps
  const find = async (key: string) =>
    await db.selectFrom('media').where('key', '=', key).select(['unused_since', 'delete_requested_at'])
      .executeTakeFirst()
  const upload = await find(image)
  // A photo of another service has no owner here: each author has a copy, which is erased with them.
  const copy = privateCopyKeyOf(image, upload ? undefined : accountId)
  const known = await find(copy)
  // What a post or story shows was copied to the end.
  if (known?.unused_since === null) return copy
  if (upload?.delete_requested_at || known?.delete_requested_at || !upload && isVideoKey(image)) throw new MediaGone()
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

/**
 * Replaces public images with private copies in posts that are not public and in stories.
 * @param postId only this post; without it, the newest 50 affected posts and stories each
 */
export async function replacePublicImages (deps: Pick<Deps, 'db' | 'media'>, postId?: string) {
  const posts = await deps.db.selectFrom('posts').where('visibility', '<>', 'PUBLIC').where('deleted_at', 'is', null)
    .where(sql<SqlBool>`media_urls <> '{}'`)
    .where(sql<SqlBool>`exists (select from unnest(media_urls) as image where image like 'public/%')`)
    .$if(postId !== undefined, (query) => query.where('id', '=', postId!))
    .select(['id', 'author_id as accountId', 'media_urls as images']).orderBy('id', 'desc').limit(BATCH_SIZE).execute()
  const replaceOfPost = async ({ id, accountId, images }: typeof posts[number]) =>
    await replaceImages(
      deps,
      accountId,
      images,
      async (trx, replacement) =>
        await trx.updateTable('posts').set({ media_urls: replacement })
          .where('id', '=', id).where(sql<SqlBool>`media_urls = ${images}::text[]`).where('visibility', '<>', 'PUBLIC')
          .where('deleted_at', 'is', null).executeTakeFirstOrThrow()
    )
  if (postId !== undefined) {
    await settleEach(posts, replaceOfPost)
    return posts.length
  }

  const stories = await deps.db.selectFrom('stories').where('cleared_at', 'is', null)
    .where('media_url', 'like', 'public/%')
    .select(['id', 'author_id as accountId', 'media_url as image']).orderBy('id', 'desc').limit(BATCH_SIZE).execute()
  const replaceOfStory = async ({ id, accountId, image }: typeof stories[number]) =>
    await replaceImages(
      deps,
      accountId,
      [image],
      async (trx, [replacement = image]) =>
        await trx.updateTable('stories').set({ media_url: replacement })
          .where('id', '=', id).where('media_url', '=', image).executeTakeFirstOrThrow()
    )
  await runSteps({
    posts: async () => await settleEach(posts, replaceOfPost),
    stories: async () => await settleEach(stories, replaceOfStory)
  })
  return posts.length + stories.length
}

async function replaceImages (
  deps: Pick<Deps, 'db' | 'media'>,
  accountId: string,
  images: string[],
  replace: (trx: Trx, replacement: string[]) => Promise<UpdateResult>
) {
  const replacement = await Promise.all(images.map(async (image) => {
    const [copy = image] = await toPrivateImages(deps, accountId, [image]).catch((error: unknown) => {
      if (!(error instanceof MediaGone)) throw error
      // A deleted image cannot be seen, so no copy is needed.
      return [privateCopyKeyOf(image)]
    })
    return copy
  }))
  await deps.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await replace(trx, replacement)
    if (numUpdatedRows > 0n) await replaceMedia(trx, accountId, { before: images, after: replacement })
  })
  await deleteMarked(deps, images)
}
