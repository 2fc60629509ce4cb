import { sql } from 'kysely'
import { hasTombstone } from '@tandem/account-kit'
import { createMediaKey, type Media } from '@tandem/media-kit'
import { settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { PhotoNotFound, ProfileMissing } from '../errors.ts'
import { lockProfile } from '../people/queries.ts'
import { deletePhoto, putBackPhoto } from '../photos/actions.ts'
import { insertWithFiles, noteNewFile } from '../photos/files.ts'
import type { Db, Trx } from '../tables.ts'

interface DecidedPhoto {
  accountId: string
  photoId: string
  /** Of the decision: a later one about the same photo wins, in whatever order they arrive. */
  sequence: number
}

/** What a removed photo needs to be put back as it was. */
const keptColumns = ['url', 'width', 'height', 'blurhash', 'is_main', 'is_verified', 'sort_order'] as const

/** Removes a photo, and keeps a private copy for an appeal. A repeat finishes what a crash left undone. */
export async function removePhoto (deps: Deps, decided: DecidedPhoto) {
  const { accountId, photoId } = decided
  const removed = await deps.db.transaction().execute(async (trx) => await storeRemoved(trx, decided))
    .catch(ignoreMissing)
  if (!removed) return
  if (removed.url !== null && removed.copy !== null) await deps.media.copy(removed.url, removed.copy)
  await deletePhoto(deps, accountId, photoId).catch(ignoreMissing)
}

/** @returns undefined if there is nothing to remove, or a later decision restored it */
async function storeRemoved (trx: Trx, { accountId, photoId, sequence }: DecidedPhoto) {
  const { id: profileId } = await lockProfile(trx, accountId)
  const photo = await trx.selectFrom('photos').where('id', '=', photoId).where('profile_id', '=', profileId)
    .select(['uploaded', ...keptColumns]).executeTakeFirst()
  if (!photo) return
  const { uploaded, ...fields } = photo
  // The file of another photo belongs to somebody else, and stays.
  const copy = uploaded ? createMediaKey('private') : null
  await trx.insertInto('removed_photos')
    .values({ photo_id: photoId, account_id: accountId, ...fields, copy, sequence })
    .onConflict((conflict) =>
      conflict.column('photo_id')
        .doUpdateSet(({ fn, ref, val }) => ({
          ...fields,
          // The copy of an earlier removal is of the same photo.
          copy: fn.coalesce(ref('removed_photos.copy'), val(copy)),
          sequence,
          removed_at: sql`now()`,
          restored_at: null
        }))
        .where('removed_photos.sequence', '<', sequence)
    ).execute()
  return await trx.selectFrom('removed_photos').where('photo_id', '=', photoId).where('sequence', '=', sequence)
    .select(['url', 'copy']).executeTakeFirst()
}

/** Puts a removed photo back where it was, unless its profile is gone or full: then its file is deleted again. */
export async function restorePhoto (deps: Deps, decided: DecidedPhoto) {
  const { db, media } = deps
  const removed = await db.transaction().execute(async (trx) => await noteRestoration(trx, decided))
  if (!removed) return
  const { url, copy } = removed
  if (copy !== null && !await media.copy(copy, url)) return
  await insertWithFiles(
    deps,
    [url],
    async () => await db.transaction().execute(async (trx) => await putBack(trx, decided))
  ).catch(ignoreMissing)
}

/** @returns undefined if there is nothing to put back: the photo is back already, or its removal did not get to its end */
async function noteRestoration (trx: Trx, { accountId, photoId, sequence }: DecidedPhoto) {
  // A new row for an erased account would never be erased.
  if (await hasTombstone(trx, accountId)) return
  const { rows: [removed] } = await sql<{ url: string | null, copy: string | null, isBack: boolean }>`
    insert into removed_photos as removed (photo_id, account_id, sequence)
    values (${photoId}, ${accountId}, ${sequence})
    on conflict (photo_id) do update set sequence = excluded.sequence
      where removed.sequence <= excluded.sequence and removed.account_id = excluded.account_id
    returning url, copy, restored_at is not null or exists (select from photos where id = photo_id) as "isBack"`
    .execute(trx)
  if (!removed?.url || removed.isBack) return
  // In this transaction: nobody may note the file of a photo that is back.
  if (removed.copy !== null) await noteNewFile(trx, removed.url)
  return { url: removed.url, copy: removed.copy }
}

async function putBack (trx: Trx, { accountId, photoId, sequence }: DecidedPhoto) {
  const profile = await lockProfile(trx, accountId)
  const removed = await trx.updateTable('removed_photos').set({ restored_at: sql`now()` })
    .where('photo_id', '=', photoId).where('sequence', '=', sequence).where('restored_at', 'is', null)
    .returning(['copy', 'removed_at', ...keptColumns]).executeTakeFirst()
  if (!removed?.url) return
  const { url, copy, ...place } = removed
  await putBackPhoto(trx, profile, { id: photoId, url, uploaded: copy !== null, ...place })
}

const ignoreMissing = (error: unknown): undefined => {
  if (!(error instanceof PhotoNotFound) && !(error instanceof ProfileMissing)) throw error
}

/** Deletes the copies that no appeal can restore any more: 180 days to appeal, and some to answer. */
export async function purgeRemovedPhotos ({ db, media }: { db: Db, media: Media }) {
  const { rows } = await sql<{ sequence: number, photoId: string, copy: string | null }>`
    select photo_id as "photoId", sequence, copy from removed_photos where removed_at < now() - interval '190 days'`
    .execute(db)
  await settleEach(rows, async ({ photoId, sequence, copy }) => {
    if (copy !== null) await media.remove(copy)
    await db.deleteFrom('removed_photos').where('photo_id', '=', photoId).where('sequence', '=', sequence).execute()
  })
}
