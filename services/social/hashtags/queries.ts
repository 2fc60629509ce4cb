import { sql } from 'kysely'
import { idOf } from '../connections/predicates.ts'
import { visiblePost } from '../posts/visibility.ts'
import type { Db } from '../tables.ts'

const MOST = 20
// Counting a week of many posts takes long: what took 50 ms or more is told to everybody for 50 times as long.
const CHEAP = 50
const WORTH = 50

interface TagCount { tag: string, postsCount: number }
interface Counted { tags: TagCount[], took: number, at: number }

const counted = new WeakMap<Db, Counted>()

/** The tags that most public posts of the last seven days carry, counted over those that `viewer` may see. */
export async function listTrendingTags (db: Db, viewer: string): Promise<TagCount[]> {
  const blocks = await db.selectFrom('blocks').where('account_id', '=', viewer).where('lifted', '=', false).select('other_id').limit(1).execute()
  // Public posts are the same for everybody but those who are apart from somebody.
  if (blocks.length > 0) return await countTags(db, viewer)

  const known = counted.get(db)
  if (known && known.took > CHEAP && performance.now() - known.at < known.took * WORTH) return known.tags
  const at = performance.now()
  const tags = await countTags(db)
  counted.set(db, { tags, took: performance.now() - at, at })
  return tags
}

async function countTags (db: Db, viewer?: string) {
  return await db.selectFrom('post_hashtags').innerJoin('posts', 'posts.id', 'post_hashtags.post_id')
    .where(sql<boolean>`post_hashtags.post_id > (select uuidv7(interval '-7 days'))`)
    .where(sql<boolean>`posts.deleted_at is null and posts.visibility = 'PUBLIC'`)
    .$if(viewer !== undefined, (posts) => posts.where(visiblePost(idOf(viewer!))))
    .select((row) => ['tag', row.fn.countAll<number>().as('postsCount')])
    .groupBy('tag')
    .orderBy('postsCount', 'desc')
    .orderBy('tag')
    .limit(MOST)
    .execute()
}
