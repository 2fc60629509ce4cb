import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { canSeePost } from '../visibility/posts.ts'

const MAX_TAGS = 20
/** Up to so many uses of tags each request counts for itself, which takes some milliseconds. */
export const MAX_USES_OF_SMALL_WEEK = 2_000
/** The ids of posts of the last seven days are greater. */
export const weekAgo = sql<string>`(select uuidv7(interval '-7 days'))`

interface TagCount {
  tag: string
  postsCount: number
  /** The most used tags are those of most people: one account cannot make a trend. */
  authorsCount: number
}
interface StoredCounts {
  tags: TagCount[]
  uses: number
  after: string
  countedAt: string
}

/** The tags of most people in public posts of the last seven days, counted over the posts that `viewer` can see. */
export async function listTrendingTags (db: Db, viewer: string): Promise<TagCount[]> {
  const { rows: [found] } = await sql<{ hasBlocks: boolean, counts: StoredCounts | null }>`
    select exists (select from blocks where account_id = ${asUuid(viewer)} and not is_lifted) as "hasBlocks",
      (select json_build_object('tags', tags, 'uses', uses, 'after', after, 'countedAt', counted_at)
        from hashtag_counts) as counts`.execute(db)
  const { hasBlocks, counts } = found!
  // Public posts are the same for everybody, except for people in a block.
  if (!counts || counts.uses <= MAX_USES_OF_SMALL_WEEK) {
    return await countTags(db, { after: weekAgo, limit: MAX_TAGS, ...hasBlocks && { viewer } })
  }
  return hasBlocks ? await withoutBlocked(db, viewer, counts) : counts.tags.slice(0, MAX_TAGS)
}

/** The tags for a viewer with blocks: without the posts of the people in them. */
async function withoutBlocked (db: Db, viewer: string, { tags, after, countedAt }: StoredCounts) {
  const blocked = await db.selectFrom('blocks').where('blocks.account_id', '=', viewer)
    .where('is_lifted', '=', false)
    .innerJoin('posts', 'posts.author_id', 'blocks.other_id')
    .innerJoin('post_hashtags', 'post_hashtags.post_id', 'posts.id')
    .where(isCounted(asUuid(after)))
    .where(sql<boolean>`posts.created_at <= ${countedAt}::timestamptz`)
    .where('tag', 'in', tags.map(({ tag }) => tag))
    .select(counts)
    .groupBy('tag')
    .execute()
  const hidden = new Map(blocked.map((count) => [count.tag, count]))
  return tags.map(({ tag, postsCount, authorsCount }) => ({
    tag,
    postsCount: postsCount - (hidden.get(tag)?.postsCount ?? 0),
    authorsCount: authorsCount - (hidden.get(tag)?.authorsCount ?? 0)
  }))
    .filter(({ postsCount }) => postsCount > 0)
    .toSorted((one, other) =>
      other.authorsCount - one.authorsCount || other.postsCount - one.postsCount || (one.tag < other.tag ? -1 : 1)
    )
    .slice(0, MAX_TAGS)
}

/**
 * Public posts with ids greater than `after`. Hidden people are read once, not for each of a week's posts. Without the
 * second limit, Postgres may read all posts there are.
 */
const isCounted = (after: RawBuilder<string>) =>
  sql<
    boolean
  >`post_hashtags.post_id > ${after} and posts.id > ${after} and posts.deleted_at is null and posts.hidden_at is null
    and posts.visibility = 'PUBLIC'
    and posts.author_id not in (select account_id from hidden_people where is_hidden)`

const counts = [
  'tag',
  sql<number>`count(*)`.as('postsCount'),
  sql<number>`count(distinct posts.author_id)`.as('authorsCount')
] as const

/** Counts the tags in posts with ids greater than `after`: those of everybody, or those that `viewer` can see. */
export async function countTags (
  db: Db,
  { after, limit, viewer }: { after: RawBuilder<string>, limit: number, viewer?: string }
) {
  return await db.selectFrom('post_hashtags').innerJoin('posts', 'posts.id', 'post_hashtags.post_id')
    .where(isCounted(after))
    .$if(viewer !== undefined, (posts) => posts.where(canSeePost(asUuid(viewer!))))
    .select(counts)
    .groupBy('tag')
    .orderBy('authorsCount', 'desc')
    .orderBy('postsCount', 'desc')
    .orderBy('tag')
    .limit(limit)
    .execute()
}
