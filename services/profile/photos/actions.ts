import { sql } from 'kysely'
import type { Image } from '@tandem/media-kit'
import { isMediaKey, ValidationError } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_UNUSED = 20
const UNUSED_FOR = '1 day'
const BATCH = 20

type Media = Pick<Deps, 'db' | 'media'>

/** Whoever changes which of an account's uploads there are, or are named, does so one after the other. */
const lockUploads = async (trx: Trx, accountId: string) =>
  await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.uploads.' || ${accountId}, 0))`.execute(trx)

/** Stores a photo that the account may name in its profile. Of those that it does not name, it keeps the 20 newest. */
export async function uploadPhoto (deps: Media, accountId: string, image: Image) {
  const { key } = await deps.media.store('public', image)
  await deps.db.transaction().execute(async (trx) => {
    await lockUploads(trx, accountId)
    await trx.insertInto('uploads').values({ key, account_id: accountId }).execute()
    await trx.updateTable('uploads').set({ deleting_at: sql`now()` })
      .where('account_id', '=', accountId).where('unused_since', 'is not', null).where('deleting_at', 'is', null)
      .where('key', 'not in', trx.selectFrom('uploads').select('key')
        .where('account_id', '=', accountId).where('unused_since', 'is not', null).where('deleting_at', 'is', null)
        .orderBy('created_at', 'desc').limit(MAX_UNUSED))
      .execute()
  })
  await deleteMarked(deps, accountId)
  return key
}

/**
 * Notes which photos the account's profile names from now on. Those that were uploaded here must be its own; the ones it names no longer
 * are deleted after a day.
 * @throws ValidationError
 */
export async function namePhotos (media: Deps['media'], trx: Trx, accountId: string, { photos, before }: { photos: string[], before: string[] }) {
  await lockUploads(trx, accountId)
  const added = photos.filter((photo) => !before.includes(photo))
  const keys = added.filter(isMediaKey)
  const held = keys.length === 0 ? [] : await trx.selectFrom('uploads').where('account_id', '=', accountId).where('key', 'in', keys).where('deleting_at', 'is', null)
    .select('key').execute()
  const isOwn = (photo: string) => isMediaKey(photo) ? held.some(({ key }) => key === photo) : media.isAllowedUrl(photo)
  if (!added.every(isOwn)) throw new ValidationError('photos must be images that you uploaded here')
  await trx.updateTable('uploads').set({ unused_since: sql`case when key = any(${photos}::text[]) then null else now() end` })
    .where('account_id', '=', accountId).where('deleting_at', 'is', null).where(sql<boolean>`(unused_since is null) <> (key = any(${photos}::text[]))`)
    .execute()
}

export const markUnusedForDeletion = async (db: Db) => await db.updateTable('uploads').set({ deleting_at: sql`now()` })
  .where('unused_since', '<', sql<Date>`now() - ${UNUSED_FOR}::interval`).where('deleting_at', 'is', null)
  .execute()

/**
 * Deletes marked files: those of one account, or all. To be called after the commit that marked them.
 * @returns why some could not be deleted; the next call tries them again
 */
export async function deleteMarked ({ db, media }: Media, accountId?: string) {
  const failures: unknown[] = []
  for (let after = ''; ;) {
    const marked = await db.selectFrom('uploads').where('deleting_at', 'is not', null).where('key', '>', after)
      .$if(accountId !== undefined, (uploads) => uploads.where('account_id', '=', accountId!))
      .select('key').orderBy('key').limit(BATCH).execute()
    const results = await Promise.allSettled(marked.map(async ({ key }) => {
      await media.remove(key)
      await db.deleteFrom('uploads').where('key', '=', key).execute()
    }))
    const failed = results.flatMap((result) => result.status === 'rejected' ? [result.reason as unknown] : [])
    failures.push(...failed)
    if (marked.length < BATCH || failed.length === marked.length) return failures
    after = marked.at(-1)!.key
  }
}
