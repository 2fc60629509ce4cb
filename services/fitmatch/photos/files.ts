import { sql } from 'kysely'
import { createMediaKey } from '@tandem/media-kit'
import { isMediaKey } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'

/** A stored value, and the account that it was uploaded by. */
export interface File { url: string, owner: string }

/** Gives matching profiles that began with the main profile's photos copies of their own, as those that begin now have. */
export async function copyBorrowedPhotos ({ db, media }: Pick<Deps, 'db' | 'media'>) {
  const borrowed = await db.selectFrom('photos').where('uploaded', '=', false).where('url', 'like', 'public/%').select(['id', 'url']).execute()
  for (const { id, url } of borrowed) {
    const copy = createMediaKey('public')
    if (!await media.copy(url, copy)) continue
    const { numUpdatedRows } = await db.updateTable('photos').set({ url: copy, uploaded: true }).where('id', '=', id).where('url', '=', url).executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) await media.remove(copy)
  }
}

/**
 * Deletes files that nothing shows any more, but for those a report holds as evidence. To be called after the commit; a file that
 * cannot be deleted stays under an address that nobody knows.
 */
export async function discardUnlessKept ({ db, media }: Pick<Deps, 'db' | 'media'>, files: File[]) {
  if (files.length === 0) return
  const reports = await db.selectFrom('reports').select('kept_urls')
    .where('reported_id', 'in', [...new Set(files.map(({ owner }) => owner))])
    .where(sql<boolean>`kept_urls && ${files.map(({ url }) => url)}::text[]`)
    .execute()
  const kept = new Set(reports.flatMap(({ kept_urls }) => kept_urls))
  for (const { url } of files) if (isMediaKey(url) && !kept.has(url)) await media.remove(url).catch(() => {})
}
