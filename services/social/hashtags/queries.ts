import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { canSeePost } from '../visibility/posts.ts'

const MAX_TAGS = 20
// From how many tags those of a viewer with blocks are chosen.
const MAX_CANDIDATES = 200
// Counting a week of many posts is slow. A count that took more than 5 ms is served for 50 times as long while the next
// one is made in the background, so that counting takes at most 1/50 of a connection's time.
const CHEAP_MS = 5
const CACHE_COST_FACTOR = 50
// What nobody has requested for this long is counted again before it is served.
const MAX_STALE_MS = 60_000

interface TagCount {
  tag: string
  postsCount: number
}
interface CachedTags {
  tags: TagCount[]
  durationMs: number
  countedAt: Date
  refresh?: Promise<CachedTags>
}

const cache = new WeakMap<Db, CachedTags>()

/** The most used tags in public posts of the last seven days, counted over the posts that `viewer` can see. */
export async function listTrendingTags (db: Db, viewer: string): Promise<TagCount[]> {
  const blocks = await db.selectFrom('blocks').where('account_id', '=', viewer).where('is_lifted', '=', false).select(
    'other_id'
  ).limit(1).execute()
  // Public posts are the same for everybody, except for people in a block.
  const counted = await readCandidates(db)
  return blocks.length === 0 ? counted.tags.slice(0, MAX_TAGS) : await withoutBlocked(db, viewer, counted)
}

async function readCandidates (db: Db): Promise<CachedTags> {
  const cached = cache.get(db)
  const ageMs = cached ? Date.now() - cached.countedAt.getTime() : Infinity
  const ttlMs = cached && cached.durationMs > CHEAP_MS ? cached.durationMs * CACHE_COST_FACTOR : 0
  if (!cached || ageMs > ttlMs + (ttlMs > 0 ? MAX_STALE_MS : 0)) return await countCandidates(db)
  if (ageMs > ttlMs) cached.refresh ??= countCandidates(db)
  // The next request sees the error if the reason lasts.
  cached.refresh?.catch(() => {
    delete cached.refresh
  })
  return cached
}

async function countCandidates (db: Db): Promise<CachedTags> {
  const countedAt = new Date()
  const tags = await countTags(db, MAX_CANDIDATES)
  const counted = { tags, durationMs: Date.now() - countedAt.getTime(), countedAt }
  cache.set(db, counted)
  return counted
}

/** The tags for a viewer with blocks: without the posts of the people in them. */
async function withoutBlocked (db: Db, viewer: string, { tags, countedAt }: CachedTags) {
  const blocked = await db.selectFrom('blocks').where('blocks.account_id', '=', viewer)
    .where('is_lifted', '=', false)
    .innerJoin('posts', 'posts.author_id', 'blocks.other_id')
    .innerJoin('post_hashtags', 'post_hashtags.post_id', 'posts.id')
    .where(isCounted)
    .where('posts.created_at', '<=', countedAt)
    .where('tag', 'in', tags.map(({ tag }) => tag))
    .select((row) => ['tag', row.fn.countAll<number>().as('postsCount')])
    .groupBy('tag')
    .execute()
  const hidden = new Map(blocked.map(({ tag, postsCount }) => [tag, postsCount]))
  const rest = tags.map(({ tag, postsCount }) => ({ tag, postsCount: postsCount - (hidden.get(tag) ?? 0) }))
    .filter(({ postsCount }) => postsCount > 0)
    .toSorted((one, other) => other.postsCount - one.postsCount || (one.tag < other.tag ? -1 : 1))
    .slice(0, MAX_TAGS)
  // A tag that is no candidate has at most as many posts as the last candidate.
  const isComplete = tags.length < MAX_CANDIDATES ||
    (rest.length === MAX_TAGS && rest.at(-1)!.postsCount > tags.at(-1)!.postsCount)
  return isComplete ? rest : await countTags(db, MAX_TAGS, viewer)
}

/** Public posts of the last seven days. */
const isCounted = sql<boolean>`post_hashtags.post_id > (select uuidv7(interval '-7 days')) and posts.deleted_at is null
  and posts.hidden_at is null and posts.visibility = 'PUBLIC'`

async function countTags (db: Db, limit: number, viewer?: string) {
  return await db.selectFrom('post_hashtags').innerJoin('posts', 'posts.id', 'post_hashtags.post_id')
    .where(isCounted)
    // Read once, not for each of a week's posts.
    .where(sql<boolean>`posts.author_id not in (select account_id from hidden_people where is_hidden)`)
    .$if(viewer !== undefined, (posts) => posts.where(canSeePost(asUuid(viewer!))))
    .select((row) => ['tag', row.fn.countAll<number>().as('postsCount')])
    .groupBy('tag')
    .orderBy('postsCount', 'desc')
    .orderBy('tag')
    .limit(limit)
    .execute()
}
