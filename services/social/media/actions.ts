import { sql } from 'kysely'
import { isAwaitingCopy } from '@tandem/case-kit'
import { deleteInChunks, useDailyQuota, withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { ImageQuotaExceeded, imageQuota, type Image } from '@tandem/media-kit'
import { settleBatches } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { MediaGone } from '../errors.ts'
import { findToday } from '../people/actions.ts'
import type { Db, Trx } from '../tables.ts'

// An image or a video is in use, unused, or marked for deletion; a video is being stored before (`videos.ts`). Code that
// changes its state holds the lock on its row. Lock rows of `media` in the order of their keys, after all other rows. An
// image is deleted from the storage only after its mark is committed.

const UNUSED_RETENTION = '7 days'
const DELETED_ROW_RETENTION = '30 days'
const BATCH_SIZE = 20

/**
 * Counts an uploaded image, before it is processed.
 * @param bytes of the file that was uploaded
 * @throws ImageQuotaExceeded
 */
export async function countImage (deps: Deps, accountId: string, bytes: number) {
  const day = await findToday(deps, accountId)
  const quota = { name: 'image bytes', accountId, day, ...imageQuota(bytes) }
  if (await useDailyQuota(deps.db, quota) === undefined) throw new ImageQuotaExceeded()
}

/** Stores an uploaded image. With an idempotency key, a repeat of the request keeps nothing. */
export async function storeUpload (
  deps: Pick<Deps, 'db' | 'media'>,
  accountId: string,
  image: Image,
  idempotencyKey?: IdempotencyKey
) {
  const { db, media } = deps
  const stored = await media.store(
    'public',
    image,
    async ({ mimeType, ...upload }) =>
      await db.insertInto('media').values({ ...upload, account_id: accountId, mime_type: mimeType }).execute()
  )
  const first = await withIdempotencyKey(db, idempotencyKey, async () => stored)
  if (first.key !== stored.key) {
    await db.updateTable('media').set({ delete_requested_at: sql`now()` }).where('key', '=', stored.key).execute()
    await deleteMarked(deps, [stored.key])
  }
  return first
}

/** Marks the images that a new post or story shows as in use. Images of other hosts are ignored. @throws MediaGone */
export async function attachMedia (trx: Trx, images: string[]) {
  if (images.length === 0) return
  const locked = await trx.selectFrom('media').where('key', 'in', images).select(['key', 'delete_requested_at'])
    .orderBy('key').forUpdate().execute()
  if (locked.some((image) => image.delete_requested_at)) throw new MediaGone()
  if (locked.length > 0) {
    await trx.updateTable('media').where('key', 'in', locked.map(({ key }) => key)).set({ unused_since: null })
      .execute()
  }
}

/** An image as stored in a post or a story, and the account that owns the post or story. */
interface MediaUse {
  accountId: string
  image: string
}

/**
 * Handles images that posts or stories stopped showing. An image that nothing else shows is marked for deletion if its
 * owner removed it. If another account removed it, the image only becomes unused, because its owner may still want it.
 */
export async function detachMedia (trx: Trx, detached: MediaUse[]) {
  if (detached.length === 0) return
  const locked = await trx.selectFrom('media').where('key', 'in', detached.map(({ image }) => image)).where(
    'delete_requested_at',
    'is',
    null
  )
    .select('key').orderBy('key').forUpdate().execute()
  if (locked.length === 0) return
  // A separate statement: it sees what others committed while the statement above waited for the rows.
  await sql`
    update media set
      unused_since = now(),
      delete_requested_at = case when not ${isEvidence} and (key, account_id) in (
        select * from unnest(${detached.map(({ image }) => image)}::text[],
          ${detached.map(({ accountId }) => accountId)}::uuid[])) then now() end
    where key = any(${locked.map(({ key }) => key)}::text[]) and not ${isInUse}`.execute(trx)
}

/** Attaches the added and detaches the removed images of a post or story. @throws MediaGone */
export async function replaceMedia (
  trx: Trx,
  accountId: string,
  { before, after }: { before: string[], after: string[] }
) {
  await attachMedia(trx, after.filter((image) => !before.includes(image)))
  await detachMedia(trx, before.filter((image) => !after.includes(image)).map((image) => ({ accountId, image })))
}

/** Whether any post or story that is not deleted shows the row of `media`, or a report needs it. */
const isInUse = sql<boolean>`(
  exists (select from posts where posts.media_urls @> array[media.key] and posts.media_urls <> '{}'
    and posts.deleted_at is null offset 0)
  or exists (select from stories where stories.media_url = media.key and stories.cleared_at is null offset 0)
  or ${isAwaitingCopy(sql.ref('media.key'))})`

/** Whether somebody sent the row of `media` with a report, which stays as long as its case. */
const isEvidence = sql<boolean>`exists (
  select from reports where reports.evidence @> array[media.key] and reports.evidence <> '{}' offset 0)`

/** Marks uploads for deletion that nothing has shown for a week. Evidence is looked at again a week later. */
export async function markUnusedForDeletion (db: Db) {
  for (let lockedCount = BATCH_SIZE; lockedCount === BATCH_SIZE;) {
    lockedCount = await db.transaction().execute(async (trx) => {
      const locked = await trx.selectFrom('media').where('delete_requested_at', 'is', null)
        .where('unused_since', '<', sql<Date>`now() - ${UNUSED_RETENTION}::interval`)
        .select('key').orderBy('unused_since').limit(BATCH_SIZE).forUpdate().skipLocked().execute()
      if (locked.length === 0) return 0
      await sql`
        update media set
          unused_since = case when ${isInUse} then null when ${isEvidence} then now() else unused_since end,
          delete_requested_at = case when ${isInUse} or ${isEvidence} then null else now() end
        where key = any(${locked.map(({ key }) => key)}::text[])`.execute(trx)
      return locked.length
    })
  }
}

/**
 * Deletes marked images from the storage: those with `keys`, or all. Call it after the commit that marked them.
 * @returns the errors of failed deletions; the next call for all images retries them
 */
export async function deleteMarked ({ db, media }: Pick<Deps, 'db' | 'media'>, keys?: string[]) {
  if (keys?.length === 0) return []
  return await settleBatches({
    batchSize: BATCH_SIZE,
    async list (after = '') {
      const marked = await db.selectFrom('media').where('delete_requested_at', 'is not', null)
        .where('deleted_at', 'is', null).where('key', '>', after)
        .$if(keys !== undefined, (images) => images.where('key', 'in', keys!))
        .select('key').orderBy('key').limit(BATCH_SIZE).execute()
      return marked.map(({ key }) => key)
    },
    async work (key) {
      await media.remove(key)
      await db.updateTable('media').where('key', '=', key).set({ deleted_at: sql`now()` }).execute()
    }
  })
}

export const purgeDeletedRows = async (db: Db) =>
  await deleteInChunks(db, 'media', sql`deleted_at < now() - ${DELETED_ROW_RETENTION}::interval order by deleted_at`)
