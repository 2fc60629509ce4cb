import { sql, type SqlBool } from 'kysely'
import { idOf, isFollowing, notBlocked, type Someone } from '../connections/predicates.ts'
import { PostForbidden, PostGone, PostNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

// Who may see a post is decided here and nowhere else. Whatever reads, lists, changes or tells of posts asks one of these.

/** Whether `posts` was made for `viewer`, deleted or not. */
const isFor = (viewer: Someone) => sql<SqlBool>`(
  posts.visibility = 'PUBLIC' or posts.author_id = ${idOf(viewer)} or (posts.visibility = 'FOLLOWERS' and ${isFollowing(viewer, sql.ref('posts.author_id'))}))`

/** Whether `viewer` may see the row of `posts`. */
export const visiblePost = (viewer: Someone) => sql<SqlBool>`(
  posts.deleted_at is null and ${isFor(viewer)} and ${notBlocked(viewer, sql.ref('posts.author_id'))})`

/**
 * Says why somebody does not see a post: for the blocked there is none, strangers may know that there is one,
 * and only who could have read it learns that it was deleted.
 */
export async function explainHidden (db: Db, postId: string, viewer: string) {
  const post = await db.selectFrom('posts').where('id', '=', postId)
    .select([isFor(viewer).as('isFor'), notBlocked(viewer, sql.ref('posts.author_id')).as('unblocked'), 'deleted_at'])
    .executeTakeFirst()
  if (!post?.unblocked) return new PostNotFound()
  return post.isFor ? new PostGone() : new PostForbidden()
}

/**
 * Takes the row of a post that `viewer` may see. Every change to what hangs on a post takes this lock first,
 * so that none of two at once waits for the other.
 * @throws PostNotFound, PostForbidden, PostGone
 */
export async function lockVisiblePost (trx: Trx, postId: string, viewer: string) {
  const post = await trx.selectFrom('posts').where('id', '=', postId).where(visiblePost(viewer))
    .select(['id', 'author_id as authorId', 'visibility', 'content'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!post) throw await explainHidden(trx, postId, viewer)
  return post
}

/** @throws PostNotFound, PostForbidden, PostGone */
export async function ensureVisiblePost (db: Db, postId: string, viewer: string) {
  const post = await db.selectFrom('posts').where('id', '=', postId).where(visiblePost(viewer))
    .select('id')
    .executeTakeFirst()
  if (!post) throw await explainHidden(db, postId, viewer)
}

const EXCERPT = 140

/** A few words of a text about a post, for notices; only of a post that everybody may read. */
export function excerptOf (text: string, visibility: string) {
  if (visibility !== 'PUBLIC' || text === '') return null
  const words = text.slice(0, EXCERPT)
  // Not half of a character outside the basic plane.
  return words.isWellFormed() ? words : words.slice(0, -1)
}

/** The same of the post itself, in a statement. */
export const excerptOfPost = sql<string | null>`case when posts.visibility = 'PUBLIC' then nullif(left(posts.content, ${sql.lit(EXCERPT)}), '') end`
