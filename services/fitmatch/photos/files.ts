import type { Deps } from '../deps.ts'

interface File { url: string, owner: string }

/**
 * Deletes files that nothing shows any more, but for those a report holds as evidence. To be called after the commit; a file that
 * cannot be deleted stays under an address that nobody knows.
 */
export async function discardUnlessKept ({ db, media }: Pick<Deps, 'db' | 'media'>, files: File[]) {
  for (const { url, owner } of files) {
    const kept = await db.selectFrom('reports').where('reported_id', '=', owner).where('kept_urls', '@>', [[url]] as never).select('id').limit(1).executeTakeFirst()
    if (!kept) await media.discard(owner, url).catch(() => {})
  }
}
