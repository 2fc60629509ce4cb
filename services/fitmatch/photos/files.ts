import { sql } from 'kysely'
import { isMediaKey } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'

/** A stored value, and the account that it was uploaded by. */
export interface File { url: string, owner: string }

/**
 * Deletes files that nothing shows any more, but for those a report holds as evidence. To be called after the commit; a file that
 * cannot be deleted stays under an address that nobody knows.
 */
export async function removeUnreportedFiles ({ db, media }: Pick<Deps, 'db' | 'media'>, files: File[]) {
  if (files.length === 0) return
  const reports = await db.selectFrom('reports').select('retained_urls')
    .where('reported_id', 'in', [...new Set(files.map(({ owner }) => owner))])
    .where(sql<boolean>`retained_urls && ${files.map(({ url }) => url)}::text[]`)
    .execute()
  const kept = new Set(reports.flatMap(({ retained_urls }) => retained_urls))
  for (const { url } of files) if (isMediaKey(url) && !kept.has(url)) await media.remove(url).catch(() => {})
}
