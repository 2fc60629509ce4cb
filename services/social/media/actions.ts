import { sql, type SqlBool } from 'kysely'
import type { StoredImage } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { MediaGone } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

// An image is shown, or not shown by anything, or doomed. Whoever changes which it is holds its row; rows are taken in the order of
// their keys, after all others. Only what was doomed and committed is deleted from the storage.

const UNUSED_FOR = '7 days'
const REMEMBERED_FOR = '30 days'
const AT_ONCE = 20

export async function insertMedia (trx: Trx, accountId: string, { key, mimeType, width, height, bytes }: StoredImage) {
  await trx.insertInto('media').values({ key, account_id: accountId, mime_type: mimeType, width, height, bytes }).execute()
  return { key, mimeType, width, height, bytes }
}

/** Notes that a new post or story shows these images, as far as they were uploaded here. @throws MediaGone */
export async function attachMedia (trx: Trx, shown: string[]) {
  if (shown.length === 0) return
  const held = await trx.selectFrom('media').where('key', 'in', shown).select(['key', 'doomed_at']).orderBy('key').forUpdate().execute()
  if (held.some((image) => image.doomed_at)) throw new MediaGone()
  if (held.length > 0) await trx.updateTable('media').where('key', 'in', held.map(({ key }) => key)).set({ unused_since: null }).execute()
}

/** A stored value, and the account whose post or story showed it. */
interface Shown { accountId: string, shown: string }

/**
 * Notes that posts or stories of these people show these images no longer. What its owner took away, and nothing else shows, is
 * doomed; another's image is only unused, as its owner may want it yet.
 */
export async function detachMedia (trx: Trx, gone: Shown[]) {
  if (gone.length === 0) return
  const held = await trx.selectFrom('media').where('key', 'in', gone.map(({ shown }) => shown)).where('doomed_at', 'is', null)
    .select('key').orderBy('key').forUpdate().execute()
  if (held.length === 0) return
  // A statement of its own: it sees what others committed while this one waited for the rows.
  await sql`
    update media set
      unused_since = now(),
      doomed_at = case when (key, account_id) in (
        select * from unnest(${gone.map(({ shown }) => shown)}::text[], ${gone.map(({ accountId }) => accountId)}::uuid[])) then now() end
    where key = any(${held.map(({ key }) => key)}::text[]) and not ${isShown}`.execute(trx)
}

/** Notes that a post or story shows other images than before. @throws MediaGone */
export async function exchangeMedia (trx: Trx, accountId: string, { before, after }: { before: string[], after: string[] }) {
  await attachMedia(trx, after.filter((image) => !before.includes(image)))
  await detachMedia(trx, before.filter((image) => !after.includes(image)).map((shown) => ({ accountId, shown })))
}

/** Whether a live post or story, of whomever, shows the row of `media`. */
const isShown = sql<SqlBool>`(
  exists (select from posts where posts.media_urls @> array[media.key] and posts.media_urls <> '{}' and posts.deleted_at is null offset 0)
  or exists (select from stories where stories.media_url = media.key and stories.cleared_at is null offset 0))`

/** Dooms uploads that nothing has shown for a week. */
export async function markUnusedForDeletion (db: Db) {
  for (let looked = AT_ONCE; looked === AT_ONCE;) {
    looked = await db.transaction().execute(async (trx) => {
      const held = await trx.selectFrom('media').where('doomed_at', 'is', null)
        .where('unused_since', '<', sql<Date>`now() - ${UNUSED_FOR}::interval`)
        .select('key').orderBy('unused_since').limit(AT_ONCE).forUpdate().skipLocked().execute()
      if (held.length === 0) return 0
      await sql`
        update media set
          unused_since = case when ${isShown} then null else unused_since end,
          doomed_at = case when ${isShown} then null else now() end
        where key = any(${held.map(({ key }) => key)}::text[])`.execute(trx)
      return held.length
    })
  }
}

/**
 * Deletes doomed images from the storage: those with `keys`, or all. To be called after the commit that doomed them.
 * @returns why some could not be deleted; they are tried again by the next call for all
 */
export async function deleteMarked ({ db, media }: Pick<Deps, 'db' | 'media'>, keys?: string[]) {
  const failures: unknown[] = []
  if (keys?.length === 0) return failures
  for (let after = ''; ;) {
    const doomed = await db.selectFrom('media').where('doomed_at', 'is not', null).where('removed_at', 'is', null).where('key', '>', after)
      .$if(keys !== undefined, (images) => images.where('key', 'in', keys!))
      .select('key').orderBy('key').limit(AT_ONCE).execute()
    const results = await Promise.allSettled(doomed.map(async ({ key }) => {
      await media.remove(key)
      await db.updateTable('media').where('key', '=', key).set({ removed_at: sql`now()` }).execute()
    }))
    const failed = results.flatMap((result) => result.status === 'rejected' ? [result.reason as unknown] : [])
    failures.push(...failed)
    // Of a storage that is away one is not asked for thousands more.
    if (doomed.length < AT_ONCE || failed.length === doomed.length) return failures
    after = doomed.at(-1)!.key
  }
}

export const forgetRemoved = async (db: Db) => await db.deleteFrom('media').where('removed_at', '<', sql<Date>`now() - ${REMEMBERED_FOR}::interval`).execute()
