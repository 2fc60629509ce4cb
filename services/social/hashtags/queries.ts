import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { canSeePost } from '../visibility/posts.ts'

const MAX_TAGS = 20
// Counting a week of many posts is slow. A count that took more than 50 ms is served from the cache for 50 times as
// long.
const CHEAP_MS = 50
const CACHE_COST_FACTOR = 50

interface TagCount {
  tag: string
  postsCount: number
}
interface CachedTags {
  tags: TagCount[]
  durationMs: number
  countedAtMs: number
}

const cache = new WeakMap<Db, CachedTags>()

/** The most used tags in public posts of the last seven days, counted over the posts that `viewer` can see. */
export async function listTrendingTags (db: Db, viewer: string): Promise<TagCount[]> {
  const blocks = await db.selectFrom('blocks').where('account_id', '=', viewer).where('is_lifted', '=', false).select(
    'other_id'
  ).limit(1).execute()
  // Public posts are the same for everybody, except for people in a block.
  if (blocks.length > 0) return await countTags(db, viewer)

  const cached = cache.get(db)
  if (
    cached && cached.durationMs > CHEAP_MS &&
    performance.now() - cached.countedAtMs < cached.durationMs * CACHE_COST_FACTOR
  ) return cached.tags
  const countedAtMs = performance.now()
  const tags = await countTags(db)
  cache.set(db, { tags, durationMs: performance.now() - countedAtMs, countedAtMs })
  return tags
}

async function countTags (db: Db, viewer?: string) {
  return await db.selectFrom('post_hashtags').innerJoin('posts', 'posts.id', 'post_hashtags.post_id')
    .where(sql<boolean>`post_hashtags.post_id > (select uuidv7(interval '-7 days'))`)
    .where(sql<boolean>`posts.deleted_at is null and posts.hidden_at is null and posts.visibility = 'PUBLIC'`)
    // Read once, not for each of a week's posts.
    .where(sql<boolean>`posts.author_id not in (select account_id from hidden_people where is_hidden)`)
    .$if(viewer !== undefined, (posts) => posts.where(canSeePost(asUuid(viewer!))))
    .select((row) => ['tag', row.fn.countAll<number>().as('postsCount')])
    .groupBy('tag')
    .orderBy('postsCount', 'desc')
    .orderBy('tag')
    .limit(MAX_TAGS)
    .execute()
}
