import { sql } from 'kysely'
import { isMediaKey } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'

/** A stored value (a media key, or a URL elsewhere), and the account that uploaded it. */
export interface StoredFile {
  url: string
  ownerId: string
}

/**
 * Deletes files that are no longer shown, except those that a report retains as evidence. Call it after the commit. A
 * file that cannot be deleted stays under a key that nobody can guess.
 */
export async function removeUnreportedFiles ({ db, media }: Pick<Deps, 'db' | 'media'>, files: StoredFile[]) {
  if (files.length === 0) return
  const reports = await db.selectFrom('reports').select('retained_urls')
    .where('reported_id', 'in', [...new Set(files.map(({ ownerId }) => ownerId))])
    .where(sql<boolean>`retained_urls && ${files.map(({ url }) => url)}::text[]`)
    .execute()
  const retained = new Set(reports.flatMap(({ retained_urls }) => retained_urls))
  for (const { url } of files) if (isMediaKey(url) && !retained.has(url)) await media.remove(url).catch(() => {})
}
