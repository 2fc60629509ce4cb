import { sql } from 'kysely'
import { createBatcher } from '@tandem/service-kit'
import type { Db } from '../tables.ts'

/** Counts that somebody read a post. Done once it is committed. */
export type CountView = (postId: string) => Promise<void>

/**
 * Counts views of posts: what comes while a statement runs waits for the next, which counts all of it. Alone, a view costs what it
 * would cost anyway; the more read at once, the less each costs. Nothing is told that a crash could take back.
 */
export function createViewCounter (db: Db): CountView {
  const count = createBatcher(async (postIds: string[]) => {
    await addViews(db, postIds)
    return postIds
    // One post that is held too long must not keep the others from being read. Nothing of the statement was committed.
  }, { maxItems: 1_000, isItemError: isLockTimeout })
  return async (postId) => void await count(postId)
}

const isLockTimeout = (error: unknown) => error instanceof Error && 'code' in error && error.code === '55P03'

async function addViews (db: Db, postIds: string[]) {
  // In the order of ids, so that two replicas that count the same posts do not wait for each other.
  await sql`
    with seen as (select id, count(*)::integer as times from unnest(${postIds}::uuid[]) as id group by id),
    held as (select posts.id, times from seen join posts using (id) order by posts.id for no key update of posts)
    update posts set views_count = views_count + times from held where posts.id = held.id`.execute(db)
}
