import { sql, type SqlBool } from 'kysely'
import { isAwaitingCopy } from '@tandem/case-kit'
import { settleEach } from '@tandem/process-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../tables.ts'

/** Notes files that nothing shows any more, in the transaction that stops showing them. */
export async function markUnused (db: Db | Trx, urls: string[]) {
  const files = urls.filter(isMediaKey).map((key) => ({ key }))
  if (files.length > 0) {
    await db.insertInto('unused_files').values(files).onConflict((row) => row.doNothing()).execute()
  }
}

/**
 * Deletes noted files: those with `keys`, or all. Evidence stays until it is copied. Call it after the commit.
 * @throws the errors of the files that could not be deleted; housekeeping tries again
 */
export async function deleteUnused ({ db, media }: Pick<Deps, 'db' | 'media'>, keys?: string[]) {
  if (keys?.length === 0) return
  const files = await db.selectFrom('unused_files').where(sql<SqlBool>`not ${isAwaitingCopy(sql.ref('key'))}`)
    .$if(keys !== undefined, (unused) => unused.where('key', 'in', keys!))
    .select('key').execute()
  await settleEach(files, async ({ key }) => {
    await media.remove(key)
    await db.deleteFrom('unused_files').where('key', '=', key).execute()
  })
}
