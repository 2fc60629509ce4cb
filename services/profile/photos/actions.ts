import { sql } from 'kysely'
import type { Image, StoredImage } from '@tandem/media-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { ValidationError } from '@tandem/http-kit'
import { settleBatches } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

const MAX_UNUSED = 20
const UNUSED_RETENTION = '1 day'
const BATCH_SIZE = 20

type Media = Pick<Deps, 'db' | 'media'>

/** Serializes changes to the uploads of an account and to their use. */
const lockUploads = async (trx: Trx, accountId: string) =>
  await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.uploads.' || ${accountId}, 0))`.execute(
    trx
  )

/** Stores a photo for the account's profile. Of the unused photos of an account, the 20 newest are kept. */
export async function uploadPhoto (deps: Media, accountId: string, image: Image) {
  const stored = await deps.media.store(
    'public',
    image,
    async (upload) => await deps.db.transaction().execute(async (trx) => await insertUpload(trx, accountId, upload))
  )
  await deleteMarked(deps, accountId)
  return stored
}

async function insertUpload (trx: Trx, accountId: string, { key, width, height, blurhash }: StoredImage) {
  await lockUploads(trx, accountId)
  await trx.insertInto('uploads').values({ key, account_id: accountId, width, height, blurhash }).execute()
  await trx.updateTable('uploads').set({ delete_requested_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('unused_since', 'is not', null)
    .where('delete_requested_at', 'is', null)
    .where('key', 'not in', newestUnused(trx, accountId))
    .execute()
}

const newestUnused = (trx: Trx, accountId: string) =>
  trx.selectFrom('uploads').select('key')
    .where('account_id', '=', accountId)
    .where('unused_since', 'is not', null)
    .where('delete_requested_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(MAX_UNUSED)

/**
 * Marks the photos that the account's profile uses from now on. Uploaded photos must be the account's own. Photos that
 * are no longer used are deleted after a day.
 * @throws ValidationError
 */
export async function attachPhotos (
  media: Deps['media'],
  trx: Trx,
  accountId: string,
  { photos, before }: { photos: string[], before: string[] }
) {
  await lockUploads(trx, accountId)
  const added = photos.filter((photo) => !before.includes(photo))
  const keys = added.filter(isMediaKey)
  const ownUploads = keys.length === 0 ?
    [] :
    await trx.selectFrom('uploads').select('key')
      .where('account_id', '=', accountId)
      .where('key', 'in', keys)
      .where('delete_requested_at', 'is', null)
      // Housekeeping, which marks them meanwhile, is waited for.
      .orderBy('key').forUpdate()
      .execute()
  const isOwn = (photo: string) =>
    isMediaKey(photo) ? ownUploads.some(({ key }) => key === photo) : media.isAllowedUrl(photo)
  if (!added.every(isOwn)) {
    throw new ValidationError('photosMustBeImagesThatYouUploadedHere', ['photos'])
  }
  await trx.updateTable('uploads').set({
    unused_since: sql`case when key = any(${photos}::text[]) then null else now() end`
  })
    .where('account_id', '=', accountId)
    .where('delete_requested_at', 'is', null)
    .where(sql<boolean>`(unused_since is null) <> (key = any(${photos}::text[]))`)
    .execute()
}

export const markUnusedForDeletion = async (db: Db) =>
  await db.updateTable('uploads').set({ delete_requested_at: sql`now()` })
    .where('unused_since', '<', sql<Date>`now() - ${UNUSED_RETENTION}::interval`)
    .where('delete_requested_at', 'is', null)
    .execute()

/**
 * Deletes marked files of one account, or of all. Call it after the commit that marked them.
 * @returns the errors of the files that could not be deleted; the next call retries them
 */
export const deleteMarked = async ({ db, media }: Media, accountId?: string) =>
  await settleBatches({
    batchSize: BATCH_SIZE,
    async list (after = '') {
      const marked = await db.selectFrom('uploads').where('delete_requested_at', 'is not', null)
        .where('key', '>', after)
        .$if(accountId !== undefined, (uploads) => uploads.where('account_id', '=', accountId!))
        .select('key').orderBy('key').limit(BATCH_SIZE).execute()
      return marked.map(({ key }) => key)
    },
    async work (key) {
      await media.remove(key)
      await db.deleteFrom('uploads').where('key', '=', key).execute()
    }
  })
