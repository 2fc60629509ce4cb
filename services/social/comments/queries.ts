import { sql } from 'kysely'
import type { Page } from '@tandem/http-kit'
import { CommentNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import { repliesCount } from '../visibility/counts.ts'
import { asUuid, canSeePerson, isBlocked } from '../visibility/people.ts'

const author = sql.ref<string>('comments.author_id')

/**
 * Whether `viewer` can see the row of `comments`, which belongs to the row of `posts`. What the author of the post
 * cannot see, because of a block, nobody else sees either: they could not delete it.
 */
const isShownTo = (viewer: string) =>
  sql<boolean>`(comments.deleted_at is null
  and (comments.author_id = ${asUuid(viewer)}
    or comments.hidden_at is null and not ${isBlocked(author, sql.ref('posts.author_id'))})
  and ${canSeePerson(viewer, author)})`

/** Comments that `viewer` can see. One that they cannot see stays as an empty place while they can see replies to it. */
const selectComments = (db: Db, viewer: string) =>
  db.selectFrom('comments')
    .innerJoin('posts', 'posts.id', 'comments.post_id')
    .leftJoin('people', (join) => join.onRef('people.account_id', '=', 'comments.author_id').on(isShownTo(viewer)))
    .where((row) => row.or([isShownTo(viewer), sql<boolean>`${repliesCount(viewer)} > 0`]))
    .select([
      'comments.id',
      'comments.post_id as postId',
      'comments.parent_id as parentId',
      sql<string>`case when ${isShownTo(viewer)} then comments.content else '' end`.as('content'),
      sql<string | null>`case when ${isShownTo(viewer)} then comments.author_id end`.as('userId'),
      'people.name',
      'people.username',
      'people.image',
      repliesCount(viewer).as('repliesCount'),
      'comments.created_at as createdAt'
    ])

/** A comment as selected. One that is only a place of replies has no `userId`. */
export type CommentRow = Awaited<ReturnType<ReturnType<typeof selectComments>['executeTakeFirstOrThrow']>>
type ShownComment = CommentRow & { userId: string }
export const isShown = (comment: CommentRow): comment is ShownComment => comment.userId !== null

type CommentKey = { id: string, postId: string }

/** @throws CommentNotFound, also if `viewer` sees no more than its place */
export async function readComment (db: Db, key: CommentKey, viewer: string) {
  const comment = await readPlace(db, key, viewer)
  if (!isShown(comment)) throw new CommentNotFound()
  return comment
}

/** A comment as the author of its post may delete and report it: also one of a person in a block with them. */
export async function readCommentOnOwnPost (db: Db, { id, postId }: CommentKey) {
  const comment = await db.selectFrom('comments').where('id', '=', id).where('post_id', '=', postId)
    .where('deleted_at', 'is', null)
    .select(['author_id as userId', 'content', 'parent_id as parentId']).executeTakeFirst()
  if (!comment?.userId) throw new CommentNotFound()
  return { ...comment, userId: comment.userId }
}

/** A comment, or its place while there are replies to it. @throws CommentNotFound */
export async function readPlace (db: Db, { id, postId }: CommentKey, viewer: string) {
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
  if (parentId !== undefined) await readPlace(db, { id: parentId, postId }, viewer)
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
