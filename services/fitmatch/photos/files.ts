import { sql } from 'kysely'
import type { Deps } from '../deps.ts'

export interface File { url: string, owner: string }

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
  for (const { url, owner } of files) if (!kept.has(url)) await media.discard(owner, url).catch(() => {})
}
