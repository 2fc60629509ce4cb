import { sql } from 'kysely'
import type { Page } from '@tandem/http-kit'
import { CommentNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { canSeePerson } from '../visibility/people.ts'

const selectComments = (db: Db, viewer: string) =>
  db.selectFrom('comments')
    .leftJoin('people', 'people.account_id', 'comments.author_id')
    .where(canSeePerson(viewer, sql.ref('comments.author_id')))
    .where((row) => row.or([row('comments.hidden_at', 'is', null), row('comments.author_id', '=', viewer)]))
    .select([
      'comments.id',
      'comments.post_id as postId',
      'comments.parent_id as parentId',
      'comments.content',
      'comments.author_id as userId',
      'people.name',
      'people.username',
      'people.image',
      'comments.replies_count as repliesCount',
      'comments.created_at as createdAt'
    ])

/** @throws CommentNotFound, also if `viewer` cannot see its author */
export async function findComment (db: Db, { id, postId }: { id: string, postId: string }, viewer: string) {
  const comment = await selectComments(db, viewer).where('comments.id', '=', id).where('comments.post_id', '=', postId)
    .executeTakeFirst()
  if (!comment) throw new CommentNotFound()
  return comment
}

/**
 * The top-level comments of a post, or the replies to one of them, oldest first. The last id is the cursor of the next
 * page. Comments of one post get their ids in sequence, so none appears above a page that was already read.
 */
export async function listComments (
  db: Db,
  postId: string,
  viewer: string,
  { parentId, cursor, limit }: Page & { parentId?: string | undefined }
) {
  if (parentId !== undefined) await findComment(db, { id: parentId, postId }, viewer)
  return await selectComments(db, viewer)
    .where((row) =>
      parentId === undefined
        ? row.and([row('comments.post_id', '=', postId), row('comments.parent_id', 'is', null)])
        : row('comments.parent_id', '=', parentId)
    )
    .$if(cursor !== undefined, (comments) => comments.where('comments.id', '>', cursor!))
    .orderBy('comments.id')
    .limit(limit + 1)
    .execute()
}
