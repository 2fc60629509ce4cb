import { publish } from '@tandem/bus-kit'
import { CommentReplied, CommentsDeleted, PostCommented } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { chunksOf } from '@tandem/process-kit'
import { NotYourComment } from '../errors.ts'
import { updateMentions } from '../mentions/actions.ts'
import type { Db, Trx } from '../tables.ts'
import { excerptOf, lockVisiblePost, canSeePost } from '../visibility/posts.ts'
import { findComment } from './queries.ts'

// Keeps the event below the 64 KiB limit of the bus.
const MAX_IDS_PER_EVENT = 1_000

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
    const parent = parentId === null ? undefined : await findComment(trx, { id: parentId, postId }, authorId)
    const topId = parent ? parent.parentId ?? parent.id : null

    const { id } = await trx.insertInto('comments').values({
      post_id: postId,
      parent_id: topId,
      author_id: authorId,
      content
    })
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
    await updateMentions(trx, {
      post,
      commentId: id,
      authorId,
      content,
      alreadyNotified
    })
    return await findComment(trx, { id, postId }, authorId)
  })
}

// The author of the parent comment may have lost access to the post since.
async function canReadPost (trx: Trx, postId: string, accountId: string) {
  return await trx.selectFrom('posts').where('id', '=', postId).where(canSeePost(accountId)).select('id')
    .executeTakeFirst() !== undefined
}

/**
 * Deletes a comment and the replies to it.
 * @throws CommentNotFound, NotYourComment, and the errors of reading the post
 */
export async function deleteComment (
  db: Db,
  { id, postId, accountId }: { id: string, postId: string, accountId: string }
) {
  await db.transaction().execute(async (trx) => {
    const post = await lockVisiblePost(trx, postId, accountId)
    const comment = await findComment(trx, { id, postId }, accountId)
    if (comment.userId !== accountId && post.authorId !== accountId) throw new NotYourComment()

    const deleted = await trx.deleteFrom('comments')
      .where((row) => row.or([row('id', '=', id), row('parent_id', '=', id)]))
      .returning('id')
      .execute()
    await trx.updateTable('posts').where('id', '=', postId).set((row) => ({
      comments_count: row('comments_count', '-', deleted.length)
    })).execute()
    if (comment.parentId !== null) {
      await trx.updateTable('comments').where('id', '=', comment.parentId).set((row) => ({
        replies_count: row('replies_count', '-', 1)
      })).execute()
    }
    for (const comments of chunksOf(deleted, MAX_IDS_PER_EVENT)) {
      await publish(trx, CommentsDeleted, postId, { postId, commentIds: comments.map((row) => row.id) })
    }
  })
}
