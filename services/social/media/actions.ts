import { sql } from 'kysely'
import type { StoredImage } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import type { Trx } from '../schema.ts'

export async function keepMedia (trx: Trx, accountId: string, { url, key, mimeType, width, height, bytes }: StoredImage) {
  await trx.insertInto('media').values({ key, url, account_id: accountId, mime_type: mimeType, width, height, bytes }).execute()
  return { url, key, mimeType, width, height, bytes }
}

/** Deletes an image that a story of its owner showed, unless one of his posts or another story shows it too. */
export async function discardUnused ({ db, media }: Pick<Deps, 'db' | 'media'>, { accountId, url }: { accountId: string, url: string }) {
  const forgotten = await db.deleteFrom('media').where('url', '=', url).where('account_id', '=', accountId)
    .where((row) => row.not(row.exists(row.selectFrom('posts').where(sql<boolean>`media_urls @> array[${url}]`).where(sql<boolean>`media_urls <> '{}'`).where('deleted_at', 'is', null))))
    .where((row) => row.not(row.exists(row.selectFrom('stories').where('author_id', '=', accountId).where('media_url', '=', url))))
    .returning('key')
    .executeTakeFirst()
  if (forgotten) await media.discard(accountId, url)
}
