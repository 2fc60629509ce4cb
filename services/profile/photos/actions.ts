import { sql } from 'kysely'
import type { Image } from '@tandem/media-kit'
import { ValidationError } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import type { Db, Trx } from '../schema.ts'

const MAX_UNUSED = 20
const UNUSED_FOR = '1 day'
const BATCH = 20

type Media = Pick<Deps, 'db' | 'media'>

/** Stores a photo that the account may name in its profile. Of those that it does not name, it keeps the 20 newest. */
export async function uploadPhoto (deps: Media, accountId: string, image: Image) {
  const stored = await deps.media.store('photos', accountId, image)
  await deps.db.transaction().execute(async (trx) => {
    // Two uploads at once must not each find room for one more.
    await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.uploads.' || ${accountId}, 0))`.execute(trx)
    await trx.insertInto('uploads').values({ key: stored.key, account_id: accountId }).execute()
    await trx.updateTable('uploads').set({ deleting_at: sql`now()` })
      .where('account_id', '=', accountId).where('unused_since', 'is not', null).where('deleting_at', 'is', null)
      .where('key', 'not in', trx.selectFrom('uploads').select('key')
        .where('account_id', '=', accountId).where('unused_since', 'is not', null).where('deleting_at', 'is', null)
        .orderBy('created_at', 'desc').limit(MAX_UNUSED))
      .execute()
  })
  await deleteMarked(deps, accountId)
  return stored
}

/** Notes that the account's profile names these photos. @throws ValidationError when one is being deleted */
export async function markUsed (trx: Trx, accountId: string, keys: string[]) {
  if (keys.length === 0) return
  const held = await trx.selectFrom('uploads').where('account_id', '=', accountId).where('key', 'in', keys).select('deleting_at').orderBy('key').forUpdate().execute()
  if (held.some((upload) => upload.deleting_at)) throw new ValidationError('photos must be images that you uploaded here within the last day')
  await trx.updateTable('uploads').set({ unused_since: null }).where('account_id', '=', accountId).where('key', 'in', keys).execute()
}

export const markUnusedForDeletion = async (db: Db) => await db.updateTable('uploads').set({ deleting_at: sql`now()` })
  .where('unused_since', '<', sql<Date>`now() - ${UNUSED_FOR}::interval`).where('deleting_at', 'is', null)
  .execute()

/**
 * Deletes marked files: those of one account, or all. To be called after the commit that marked them.
 * @returns why some could not be deleted; the next call tries them again
 */
export async function deleteMarked ({ db, media }: Media, accountId?: string) {
  const failures: unknown[] = []
  for (let after = ''; ;) {
    const marked = await db.selectFrom('uploads').where('deleting_at', 'is not', null).where('key', '>', after)
      .$if(accountId !== undefined, (uploads) => uploads.where('account_id', '=', accountId!))
      .select(['key', 'account_id as owner']).orderBy('key').limit(BATCH).execute()
    const results = await Promise.allSettled(marked.map(async ({ key, owner }) => {
      await media.discard(owner, media.urlOf(key))
      await db.deleteFrom('uploads').where('key', '=', key).execute()
    }))
    const failed = results.flatMap((result) => result.status === 'rejected' ? [result.reason as unknown] : [])
    failures.push(...failed)
    if (marked.length < BATCH || failed.length === marked.length) return failures
    after = marked.at(-1)!.key
  }
}
