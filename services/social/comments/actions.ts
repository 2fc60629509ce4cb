import { publish } from '@tandem/bus-kit'
import { CommentReplied, CommentsDeleted, PostCommented } from '@tandem/contracts'
import { NotYourComment } from '../errors.ts'
import { keepMentions } from '../mentions/actions.ts'
import { excerptOf, lockVisiblePost, visiblePost } from '../posts/visibility.ts'
import type { Db, Trx } from '../tables.ts'
import { findComment } from './queries.ts'

// Ids in one event, which the bus takes up to 64 KiB of.
const IDS_EACH = 1_000

interface NewComment { postId: string, parentId: string | null, authorId: string, content: string }

/** @throws what reading the post would, CommentNotFound for the parent */
export async function addComment (trx: Trx, { postId, parentId, authorId, content }: NewComment) {
  const post = await lockVisiblePost(trx, postId, authorId)
  const parent = parentId === null ? undefined : await findComment(trx, { id: parentId, postId }, authorId)
  const topId = parent ? parent.parentId ?? parent.id : null

  const { id } = await trx.insertInto('comments').values({ post_id: postId, parent_id: topId, author_id: authorId, content })
    .returning('id').executeTakeFirstOrThrow()
  await trx.updateTable('posts').where('id', '=', postId).set((row) => ({ comments_count: row('comments_count', '+', 1) })).execute()
  if (topId !== null) await trx.updateTable('comments').where('id', '=', topId).set((row) => ({ replies_count: row('replies_count', '+', 1) })).execute()

  const excerpt = excerptOf(content, post.visibility)
  const told = [parent?.userId ?? post.authorId]
  if (!parent) {
    await publish(trx, PostCommented, postId, { postId, commentId: id, authorId: post.authorId, commentedBy: authorId, excerpt })
  } else if (await mayRead(trx, postId, parent.userId)) {
    await publish(trx, CommentReplied, postId, { postId, commentId: id, parentId: parent.id, parentAuthorId: parent.userId, repliedBy: authorId, excerpt })
  }
  await keepMentions(trx, { post: { id: postId, visibility: post.visibility }, commentId: id, authorId, content, toldAnyway: told })
  return await findComment(trx, { id, postId }, authorId)
}

// Who commented once may have lost sight of the post since.
async function mayRead (trx: Trx, postId: string, accountId: string) {
  return await trx.selectFrom('posts').where('id', '=', postId).where(visiblePost(accountId)).select('id').executeTakeFirst() !== undefined
}

/**
 * Deletes a comment and the replies to it.
 * @throws what reading the post would, CommentNotFound, NotYourComment
 */
export async function deleteComment (db: Db, { id, postId, accountId }: { id: string, postId: string, accountId: string }) {
  await db.transaction().execute(async (trx) => {
    const post = await lockVisiblePost(trx, postId, accountId)
    const comment = await findComment(trx, { id, postId }, accountId)
    if (comment.userId !== accountId && post.authorId !== accountId) throw new NotYourComment()

    const deleted = await trx.deleteFrom('comments')
      .where((row) => row.or([row('id', '=', id), row('parent_id', '=', id)]))
      .returning('id')
      .execute()
    await trx.updateTable('posts').where('id', '=', postId).set((row) => ({ comments_count: row('comments_count', '-', deleted.length) })).execute()
    if (comment.parentId !== null) {
      await trx.updateTable('comments').where('id', '=', comment.parentId).set((row) => ({ replies_count: row('replies_count', '-', 1) })).execute()
    }
    for (let from = 0; from < deleted.length; from += IDS_EACH) {
      await publish(trx, CommentsDeleted, postId, { postId, commentIds: deleted.slice(from, from + IDS_EACH).map((row) => row.id) })
    }
  })
}
