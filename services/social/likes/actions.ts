import { record } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import { excerptOf, lockVisiblePost } from '../posts/visibility.ts'
import type { Db } from '../schema.ts'

interface Like { postId: string, accountId: string }

/** @throws what reading the post would, AlreadyLiked */
export async function likePost (db: Db, { postId, accountId }: Like) {
  await db.transaction().execute(async (trx) => {
    const { authorId, content, visibility } = await lockVisiblePost(trx, postId, accountId)
    const like = await trx.insertInto('likes').values({ post_id: postId, account_id: accountId })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!like) throw new AlreadyLiked()

    await trx.updateTable('posts').where('id', '=', postId).set((row) => ({ likes_count: row('likes_count', '+', 1) })).execute()
    await record(trx, PostLiked, postId, { postId, authorId, likedBy: accountId, excerpt: excerptOf(content, visibility) })
  })
}

/** @throws what reading the post would, NotLiked */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  await db.transaction().execute(async (trx) => {
    const { authorId } = await lockVisiblePost(trx, postId, accountId)
    const { numDeletedRows } = await trx.deleteFrom('likes').where('post_id', '=', postId).where('account_id', '=', accountId).executeTakeFirst()
    if (numDeletedRows === 0n) throw new NotLiked()

    await trx.updateTable('posts').where('id', '=', postId).set((row) => ({ likes_count: row('likes_count', '-', 1) })).execute()
    await record(trx, PostUnliked, postId, { postId, authorId, unlikedBy: accountId })
  })
}
