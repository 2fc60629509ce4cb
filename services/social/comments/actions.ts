import { publish } from '@tandem/bus-kit'
import { CommentReplied, CommentsDeleted, PostCommented } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { chunksOf } from '@tandem/process-kit'
import { lowerCounters } from '../counters.ts'
import { CommentNotFound, NotYourComment } from '../errors.ts'
import { createMentions } from '../mentions/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { MAX_IDS_PER_EVENT } from '../visibility/closed-posts.ts'
import { excerptOf, lockPost, lockVisiblePost, canSeePost } from '../visibility/posts.ts'
import { readComment, readCommentOnOwnPost } from './queries.ts'

interface NewComment {
  postId: string
  parentId: string | null
  authorId: string
  content: string
}

/** @throws CommentNotFound for the parent, and the errors of reading the post */
export async function createComment (
  db: Db,
  { postId, parentId, authorId, content }: NewComment,
  idempotencyKey?: IdempotencyKey
) {
  return await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    const post = await lockVisiblePost(trx, postId, authorId)
    const parent = parentId === null ? undefined : await readComment(trx, { id: parentId, postId }, authorId)
    const topId = parent ? parent.parentId ?? parent.id : null

    const { id } = await trx.insertInto('comments')
      .values({ post_id: postId, parent_id: topId, author_id: authorId, content })
      .returning('id').executeTakeFirstOrThrow()
    await trx.updateTable('posts').where('id', '=', postId).set((row) => ({
      comments_count: row('comments_count', '+', 1)
    })).execute()
    if (topId !== null) {
      await trx.updateTable('comments').where('id', '=', topId).set((row) => ({
        replies_count: row('replies_count', '+', 1)
      })).execute()
    }

    const excerpt = excerptOf(content, post.visibility)
    const alreadyNotified = [parent?.userId ?? post.authorId]
    if (!parent) {
      await publish(trx, PostCommented, postId, {
        postId,
        commentId: id,
        authorId: post.authorId,
        commentedBy: authorId,
        excerpt
      })
    } else if (await canReadPost(trx, postId, parent.userId)) {
      await publish(trx, CommentReplied, postId, {
        postId,
        commentId: id,
        parentId: parent.id,
        parentAuthorId: parent.userId,
        postAuthorId: post.authorId,
        repliedBy: authorId,
        excerpt
      })
    }
    await createMentions(trx, { post, commentId: id, parentId: topId, authorId, content, alreadyNotified })
    return await readComment(trx, { id, postId }, authorId)
  })
}

// The author of the parent comment may have lost access to the post since.
async function canReadPost (trx: Trx, postId: string, accountId: string) {
  return await trx.selectFrom('posts').where('id', '=', postId).where(canSeePost(accountId)).select('id')
    .executeTakeFirst() !== undefined
}

/**
 * Deletes a comment. Its author can always do it, whether or not they still see the post, and the author of the post,
 * whether or not they see the comment.
 * @throws CommentNotFound, NotYourComment, and the errors of reading the post
 */
export async function deleteComment (
  db: Db,
  { id, postId, accountId }: { id: string, postId: string, accountId: string }
) {
  await db.transaction().execute(async (trx) => {
    const own = await trx.selectFrom('comments').where('id', '=', id).where('post_id', '=', postId)
      .where('author_id', '=', accountId).select('id').executeTakeFirst()
    if (own) {
      await lockPost(trx, postId)
    } else {
      const post = await lockVisiblePost(trx, postId, accountId)
      if (post.authorId !== accountId) {
        await readComment(trx, { id, postId }, accountId)
        throw new NotYourComment()
      }
      await readCommentOnOwnPost(trx, { id, postId })
    }
    if (await removeComments(trx, [id]) === 0) throw new CommentNotFound()
  })
}

const columns = ['id', 'post_id as postId', 'parent_id as parentId'] as const

/**
 * Removes comments. One with replies stays as their place, without author and text, until the last of them is deleted:
 * the replies belong to others. The caller holds the locks of the posts.
 * @returns how many it removed
 */
export async function removeComments (trx: Trx, ids: string[]) {
  const emptied = await trx.updateTable('comments').where('id', 'in', ids).where('deleted_at', 'is', null)
    .where('replies_count', '>', 0)
    .set({ author_id: null, content: '', deleted_at: new Date() })
    .returning(columns)
    .execute()
  const deleted = await trx.deleteFrom('comments').where('id', 'in', ids).where('deleted_at', 'is', null)
    .returning(columns)
    .execute()
  const removed = [...emptied, ...deleted]
  if (removed.length === 0) return 0
  const places = deleted.flatMap(({ parentId }) => parentId ?? [])
  await lowerCounters(trx, 'posts', 'comments_count', removed.map(({ postId }) => postId))
  await lowerCounters(trx, 'comments', 'replies_count', places)
  await trx.deleteFrom('mentions').where('comment_id', 'in', ids).execute()
  await trx.deleteFrom('comments').where('id', 'in', [...ids, ...places]).where('deleted_at', 'is not', null)
    .where('replies_count', '=', 0).execute()
  for (const [postId, ofPost] of Map.groupBy(removed, (comment) => comment.postId)) {
    for (const comments of chunksOf(ofPost, MAX_IDS_PER_EVENT)) {
      await publish(trx, CommentsDeleted, postId, { postId, commentIds: comments.map((comment) => comment.id) })
    }
  }
  return removed.length
}
