import { sql } from 'kysely'
import { isAwaitingCopy } from '@tandem/case-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'

/** Which of these stored values (media keys, or URLs elsewhere) are evidence that is not copied yet. */
async function listAwaitingCopy (db: Db, urls: string[]) {
  const { rows } = await sql<{ url: string }>`
    select url from unnest(${urls}::text[]) as url where ${isAwaitingCopy(sql.ref('url'))}`.execute(db)
  return new Set(rows.map(({ url }) => url))
}

/**
 * Deletes files that are no longer shown. Those that are evidence are deleted once they are copied. Call it after the
 * commit. A file that cannot be deleted stays under a key that nobody can guess.
 */
export async function removeFiles ({ db, media }: Pick<Deps, 'db' | 'media'>, urls: string[]) {
  if (urls.length === 0) return
  const awaiting = await listAwaitingCopy(db, urls)
  for (const url of urls) if (isMediaKey(url) && !awaiting.has(url)) await media.remove(url).catch(() => {})
}

/** Whether a file is evidence that is not copied yet. */
export const isNeededAsEvidence = async (db: Db, url: string) => (await listAwaitingCopy(db, [url])).has(url)
