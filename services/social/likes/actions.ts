import { publish } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'
import { excerptOf, readVisiblePost } from '../visibility/posts.ts'

interface Like {
  postId: string
  accountId: string
}

/** Likes a post. @throws AlreadyLiked, and the errors of reading the post */
export async function likePost (db: Db, { postId, accountId }: Like, idempotencyKey?: IdempotencyKey) {
  await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const { id, authorId, content, visibility } = await readVisiblePost(trx, postId, accountId)
    const added = await trx.insertInto('likes').values({ post_id: id, account_id: accountId })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!added) throw new AlreadyLiked()
    const excerpt = excerptOf(content, visibility)
    await publish(trx, PostLiked, id, { postId: id, authorId, likedBy: accountId, excerpt })
    await count(trx, id, 1)
    return null
  })
}

/** Also removes a like of a post that the person can no longer see. @throws NotLiked, and the errors of reading the post */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  await db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx.deleteFrom('likes').where('post_id', '=', postId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (numDeletedRows === 0n) {
      await readVisiblePost(trx, postId, accountId)
      throw new NotLiked()
    }
    const { authorId } = await trx.selectFrom('posts').where('id', '=', postId).select('author_id as authorId')
      .executeTakeFirstOrThrow()
    await publish(trx, PostUnliked, postId, { postId, authorId, unlikedBy: accountId })
    await count(trx, postId, -1)
  })
}

// The last statement of a like, as people who like one post at the same moment wait for each other from here on.
async function count (trx: Trx, postId: string, change: 1 | -1) {
  await trx.updateTable('posts').where('id', '=', postId).set((row) => ({
    likes_count: row('likes_count', '+', change)
  })).execute()
}
