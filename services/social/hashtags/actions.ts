import type { Trx } from '../tables.ts'
import { parseHashtags } from './parsing.ts'

/** Replaces the hashtags of a post with those in its current content. */
export async function replaceHashtags (trx: Trx, postId: string, content: string) {
  const tags = parseHashtags(content)
  await trx.deleteFrom('post_hashtags').where('post_id', '=', postId).$if(
    tags.length > 0,
    (query) => query.where('tag', 'not in', tags)
  ).execute()
  if (tags.length === 0) return
  await trx.insertInto('post_hashtags').values(tags.map((tag) => ({ tag, post_id: postId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
