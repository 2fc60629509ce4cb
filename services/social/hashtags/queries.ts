import { sql } from 'kysely'
import { visiblePost } from '../posts/visibility.ts'
import type { Db } from '../schema.ts'

const MOST = 20

/** The tags that most public posts of the last seven days carry, counted over those that `viewer` may see. */
export async function listTrendingTags (db: Db, viewer: string) {
  return await db.selectFrom('post_hashtags').innerJoin('posts', 'posts.id', 'post_hashtags.post_id')
    .where(sql<boolean>`post_hashtags.post_id > (select uuidv7(interval '-7 days'))`)
    .where(sql<boolean>`posts.deleted_at is null and posts.visibility = 'PUBLIC'`)
    .where(visiblePost(viewer))
    .select((row) => ['tag', row.fn.countAll<number>().as('postsCount')])
    .groupBy('tag')
    .orderBy('postsCount', 'desc')
    .orderBy('tag')
    .limit(MOST)
    .execute()
}
