import { sql } from 'kysely'
import { deleteInChunks, isLockTimeout, lookupArray } from '@tandem/database-kit'
import { createBatcher } from '@tandem/process-kit'
import type { Db } from '../tables.ts'

interface View {
  postId: string
  viewerId: string
}

/**
 * Returns a function that counts a view and resolves after the commit. It counts in batches: views that arrive while a statement runs are counted together by the next
 * statement. A single view costs no more than without batching; the more arrive at once, the less each costs. A crash
 * loses no view that was reported as counted.
 */
export function createViewCounter (db: Db) {
  const countBatched = createBatcher(async (views: View[]) => {
    await addViews(db, views)
    return views
    // A post that stays locked too long must not keep the others from being read. The failed statement committed
    // nothing.
  }, { maxItems: 1_000, isItemError: isLockTimeout })
  return async (view: View) => void await countBatched(view)
}

/** How long posts are ranked after their creation. */
export const RANKED_FOR = '7 days'

async function addViews (db: Db, views: View[]) {
  // Locked in the order of ids, so that two replicas that count the same posts cannot deadlock.
  await sql`
    with views as (
      select * from unnest(
        ${lookupArray(views.map(({ postId }) => postId), 'uuid')},
        ${lookupArray(views.map(({ viewerId }) => viewerId), 'uuid')}
      ) as view (id, reader)
    ), locked as (
      select id, created_at from posts where id in (select id from views) order by id for no key update
    ), readers as (
      insert into post_readers (post_id, account_id)
      select distinct id, reader from views join locked using (id)
      where created_at > now() - ${RANKED_FOR}::interval
      order by id, reader on conflict do nothing
    )
    update posts set views_count = views_count + times
    from (select id, count(*)::integer as times from views join locked using (id) group by id) counted
    where posts.id = counted.id`.execute(db)
}

/** Deletes readers of posts that are no longer ranked. */
export const deleteOldReaders = async (db: Db) =>
  await deleteInChunks(
    db,
    'post_readers',
    sql`post_id < (select uuidv7(-${RANKED_FOR}::interval)) order by post_id`
  )
