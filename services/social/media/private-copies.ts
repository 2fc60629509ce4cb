import { sql, type SqlBool, type UpdateResult } from 'kysely'
import { privateCopyKeyOf } from '@tandem/media-kit'
import { isMediaKey, isPrivateMediaKey } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { ForeignMedia, MediaGone } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { exchangeMedia, deleteMarked } from './actions.ts'

// An upload is public under an address that nobody can guess. What not everybody may see shows the upload's one private copy, whose
// address is signed each time it is shown.

/** Refuses private images that the account has not uploaded itself: to show them would hand them to others. @throws ForeignMedia */
export async function ensureOwn (db: Db, accountId: string, images: string[]) {
  const keys = images.filter((image) => isMediaKey(image) && isPrivateMediaKey(image))
  if (keys.length === 0) return
  const own = await db.selectFrom('media').where('key', 'in', keys).where('account_id', '=', accountId).select('key').execute()
  if (keys.some((key) => !own.some((image) => image.key === key))) throw new ForeignMedia()
}

/** The images as a post or story shows them that not everybody may see. @throws MediaGone */
export const makePrivate = async (deps: Pick<Deps, 'db' | 'media'>, accountId: string, images: string[]) =>
  await Promise.all(images.map(async (image) => isMediaKey(image) && !isPrivateMediaKey(image) ? await copyOf(deps, accountId, image) : image))

async function copyOf ({ db, media }: Pick<Deps, 'db' | 'media'>, accountId: string, image: string) {
  const copy = privateCopyKeyOf(image)
  const known = await db.selectFrom('media').where('key', 'in', [image, copy]).select(['key', 'doomed_at']).execute()
  // Whether it is being deleted is looked at again when it is shown.
  if (known.some(({ key }) => key === copy)) return copy
  if (known.some(({ doomed_at }) => doomed_at) || !await media.copy(image, copy)) throw new MediaGone()
  // A photo of another service is not known here: its sizes are 0, and the copy is its author's.
  await sql`
    insert into media (key, account_id, mime_type, width, height, bytes)
    select ${copy}, coalesce(upload.account_id, ${accountId}), 'image/webp', coalesce(width, 0), coalesce(height, 0), coalesce(bytes, 0)
    from (select 1) as one left join media as upload on upload.key = ${image}
    on conflict (key) do nothing`.execute(db)
  return copy
}

const BATCH = 50

/** Makes the images private of posts that are not public, and of stories, and still show public ones: of one post, or the newest 50 of all. */
export async function protectImages (deps: Pick<Deps, 'db' | 'media'>, postId?: string) {
  const posts = await deps.db.selectFrom('posts').where('visibility', '<>', 'PUBLIC').where('deleted_at', 'is', null).where(sql<SqlBool>`media_urls <> '{}'`)
    .where(sql<SqlBool>`exists (select from unnest(media_urls) as image where image like 'public/%')`)
    .$if(postId !== undefined, (query) => query.where('id', '=', postId!))
    .select(['id', 'author_id as accountId', 'media_urls as images']).orderBy('id', 'desc').limit(BATCH).execute()
  for (const { id, accountId, images } of posts) {
    await protect(deps, accountId, images, async (trx, shown) => await trx.updateTable('posts').set({ media_urls: shown })
      .where('id', '=', id).where(sql<SqlBool>`media_urls = ${images}::text[]`).where('visibility', '<>', 'PUBLIC').where('deleted_at', 'is', null).executeTakeFirstOrThrow())
  }
  if (postId !== undefined) return posts.length

  const stories = await deps.db.selectFrom('stories').where('cleared_at', 'is', null).where('media_url', 'like', 'public/%')
    .select(['id', 'author_id as accountId', 'media_url as image']).orderBy('id', 'desc').limit(BATCH).execute()
  for (const { id, accountId, image } of stories) {
    await protect(deps, accountId, [image], async (trx, [shown = image]) => await trx.updateTable('stories').set({ media_url: shown })
      .where('id', '=', id).where('media_url', '=', image).executeTakeFirstOrThrow())
  }
  return posts.length + stories.length
}

async function protect (deps: Pick<Deps, 'db' | 'media'>, accountId: string, images: string[], replace: (trx: Trx, shown: string[]) => Promise<UpdateResult>) {
  const shown = await Promise.all(images.map(async (image) => {
    const [copy = image] = await makePrivate(deps, accountId, [image]).catch((error: unknown) => {
      if (!(error instanceof MediaGone)) throw error
      // What is gone is seen by nobody.
      return [privateCopyKeyOf(image)]
    })
    return copy
  }))
  await deps.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await replace(trx, shown)
    if (numUpdatedRows > 0n) await exchangeMedia(trx, accountId, { before: images, after: shown })
  })
  await deleteMarked(deps, images)
}
