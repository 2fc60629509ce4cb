import { sql } from 'kysely'
import { isMediaKey } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'

/** A stored value (a media key, or a URL elsewhere), and the account that uploaded it. */
export interface StoredFile {
  url: string
  ownerId: string
}

/** Whether a report retains a file as evidence against its owner. */
export async function isRetained (db: Db, url: string, ownerId: string) {
  const report = await db.selectFrom('reports').select('id').where('reported_id', '=', ownerId)
    .where(sql<boolean>`${url} = any(retained_urls)`).limit(1).executeTakeFirst()
  return report !== undefined
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
