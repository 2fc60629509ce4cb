import { sql, type SqlBool } from 'kysely'
import { isAwaitingCopy } from '@tandem/case-kit'
import { settleEach } from '@tandem/process-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Deps } from '../deps.ts'
import { hasRolledBack } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

/** Notes files that nothing shows any more, in the transaction that stops showing them. */
export async function markUnused (db: Db | Trx, urls: string[]) {
  const files = urls.filter(isMediaKey).map((key) => ({ key }))
  if (files.length > 0) {
    await db.insertInto('unused_files').values(files).onConflict((row) => row.doNothing()).execute()
  }
}

/** Notes a file that is about to be stored, so that it is deleted if the process dies before `keepFiles`. */
export async function noteNewFile (db: Db, key: string) {
  const delete_after = sql<Date>`now() + interval '1 hour'`
  await db.insertInto('unused_files').values({ key, delete_after })
    // The deletion of an earlier file of this name may still be outstanding.
    .onConflict((row) => row.column('key').doUpdateSet({ delete_after })).execute()
}

/** Keeps new files, in the transaction that inserts the rows that show them. */
export async function keepFiles (trx: Trx, urls: string[]) {
  const keys = urls.filter(isMediaKey)
  if (keys.length === 0) return
  const { numDeletedRows } = await trx.deleteFrom('unused_files').where('key', 'in', keys).executeTakeFirst()
  if (numDeletedRows !== BigInt(keys.length)) throw new Error('a new file was not noted, or was deleted as unused')
}

/** Runs `insert`, which keeps the noted files that it shows, and deletes the others. */
export async function insertWithFiles<Result> (
  deps: Pick<Deps, 'db' | 'media'>,
  urls: string[],
  insert: () => Promise<Result>
) {
  const deleteOthers = async () => await deleteUnused(deps, urls).catch(() => {})
  try {
    const result = await insert()
    await deleteOthers()
    return result
  } catch (error) {
    // After other errors the transaction may have been committed. Housekeeping knows, an hour later.
    if (hasRolledBack(error)) await deleteOthers()
    throw error
  }
}

/**
 * Deletes noted files: those with `keys`, or all whose time has come. Evidence stays until it is copied. Call it after
 * the commit.
 * @throws the errors of the files that could not be deleted; housekeeping tries again
 */
export async function deleteUnused ({ db, media }: Pick<Deps, 'db' | 'media'>, keys?: string[]) {
  if (keys?.length === 0) return
  const files = await db.selectFrom('unused_files').where(sql<SqlBool>`not ${isAwaitingCopy(sql.ref('key'))}`)
    .$if(keys !== undefined, (unused) => unused.where('key', 'in', keys!))
    .$if(keys === undefined, (unused) => unused.where('delete_after', '<=', sql<Date>`now()`))
    .select('key').execute()
  await settleEach(files, async ({ key }) => {
    await media.remove(key)
    await db.deleteFrom('unused_files').where('key', '=', key).execute()
  })
}
