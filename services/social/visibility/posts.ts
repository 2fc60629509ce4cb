import { sql, type RawBuilder } from 'kysely'
import { asUuid, isFollowing, canSeePerson, type AccountRef } from './people.ts'
import { PostForbidden, PostGone, PostNotFound } from '../errors.ts'
import type { Db, Trx } from '../tables.ts'

// The only place that decides who can see a post. All code that reads, lists, changes or publishes events about posts
// uses these functions.

const author = sql.ref<string>('posts.author_id')

/** Whether `viewer` is in the audience of the row of `posts`, deleted or not. */
const isInAudience = (viewer: AccountRef) =>
  sql<boolean>`(
  posts.visibility = 'PUBLIC' or posts.author_id = ${asUuid(viewer)} or (posts.visibility = 'FOLLOWERS' and
    ${isFollowing(viewer, author)}))`

/**
 * Whether `viewer` can see the row of `posts`.
 * @param isAuthorShown whether its author is not hidden, if the query has read it
 */
export const canSeePost = (viewer: AccountRef, isAuthorShown?: RawBuilder<boolean>) =>
  sql<boolean>`(
  posts.deleted_at is null and (posts.hidden_at is null or posts.author_id = ${asUuid(viewer)})
  and ${isInAudience(viewer)} and ${canSeePerson(viewer, author, isAuthorShown)})`

/** Whether people who follow the author of the row of `posts` can see it, if they can see the author. */
export const isShownToFollowers = sql<boolean>`posts.deleted_at is null and posts.hidden_at is null
  and posts.visibility <> 'PRIVATE'`

/**
 * The error for a post that `viewer` cannot see. People who cannot see its author get PostNotFound, people outside its
 * audience get PostForbidden, and only people in its audience learn that it was deleted (PostGone).
 */
export async function hiddenPostError (db: Db, postId: string, viewer: string) {
  const post = await db.selectFrom('posts').where('id', '=', postId)
    .select([
      isInAudience(viewer).as('isInAudience'),
      canSeePerson(viewer, author).as('canSeeAuthor'),
      'deleted_at'
    ])
    .executeTakeFirst()
  if (!post?.canSeeAuthor) return new PostNotFound()
  return post.isInAudience ? new PostGone() : new PostForbidden()
}

/**
 * Locks the row of a post that `viewer` can see. Every change to the comments, mentions or poll of a post takes this
 * lock first, so that two changes at the same moment cannot deadlock.
 * @throws PostNotFound, PostForbidden, PostGone
 */
export async function lockVisiblePost (trx: Trx, postId: string, viewer: string) {
  const post = await visiblePost(trx, postId, viewer).forNoKeyUpdate().executeTakeFirst()
  if (!post) throw await hiddenPostError(trx, postId, viewer)
  return post
}

/** Takes the same lock for what a person may do with their own comment, whether or not they see the post. */
export async function lockPost (trx: Trx, postId: string) {
  await trx.selectFrom('posts').where('id', '=', postId).select('id').forNoKeyUpdate().execute()
}

/** A post that `viewer` can see. @throws PostNotFound, PostForbidden, PostGone */
export async function readVisiblePost (db: Db, postId: string, viewer: string) {
  const post = await visiblePost(db, postId, viewer).executeTakeFirst()
  if (!post) throw await hiddenPostError(db, postId, viewer)
  return post
}

const visiblePost = (db: Db, postId: string, viewer: string) =>
  db.selectFrom('posts').where('id', '=', postId).where(canSeePost(viewer))
    .select(['id', 'author_id as authorId', 'visibility', 'content'])

const EXCERPT_LENGTH = 140
const graphemes = new Intl.Segmenter()

/** The start of a text about a post, for notifications. Null unless the post is public. */
export const excerptOf = (text: string, visibility: string) =>
  visibility !== 'PUBLIC' || text === '' ? null : text.slice(0, endOfExcerpt(text))

// An emoji or a syllable is not cut in two, unless it fills the excerpt alone: anything can be heaped on one letter.
function endOfExcerpt (text: string) {
  const end = Array.from(text).slice(0, EXCERPT_LENGTH).join('').length
  return graphemes.segment(text).containing(end)?.index || end
}
