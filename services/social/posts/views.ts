import { sql } from 'kysely'
import { createBatcher } from '@tandem/process-kit'
import type { Db } from '../tables.ts'

/** Counts a view of a post. Resolves after the commit. */
export type CountView = (postId: string) => Promise<void>

/**
 * Counts views of posts in batches: views that arrive while a statement runs are counted together by the next
 * statement. A single view costs no more than without batching; the more arrive at once, the less each costs. A crash
 * loses no view that was reported as counted.
 */
export function createViewCounter (db: Db): CountView {
  const countBatched = createBatcher(async (postIds: string[]) => {
    await addViews(db, postIds)
    return postIds
    // A post that stays locked too long must not keep the others from being read. The failed statement committed
    // nothing.
  }, { maxItems: 1_000, isItemError: isLockTimeout })
  return async (postId) => void await countBatched(postId)
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03'

async function addViews (db: Db, postIds: string[]) {
  // Locked in the order of ids, so that two replicas that count the same posts cannot deadlock.
  await sql`
    with counts as (select id, count(*)::integer as times from unnest(${postIds}::uuid[]) as id group by id),
    locked as (select posts.id, times from counts join posts using (id) order by posts.id for no key update of posts)
    update posts set views_count = views_count + times from locked where posts.id = locked.id`.execute(db)
}
