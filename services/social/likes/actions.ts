import { sql } from 'kysely'
import { publishSql } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { withIdempotencyKey, type IdempotencyKey } from '@tandem/database-kit'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import type { Db } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { excerptOfPost, hiddenPostError, canSeePost } from '../visibility/posts.ts'

interface Like {
  postId: string
  accountId: string
}

// A like is one statement: its row, then the event, and last the post's counter, each part reading from the one before.
// So when many people like one post at once, each locks its row only for the commit. Code that holds a post's row must
// never wait for a like.

/** @throws AlreadyLiked, and the errors of reading the post */
export async function likePost (db: Db, like: Like, idempotencyKey?: IdempotencyKey) {
  // Without a key no transaction is needed around the statement.
  if (!idempotencyKey) return await insertLike(db, like)
  await withIdempotencyKey(db, idempotencyKey, async (trx) => {
    await insertLike(trx, like)
    return null
  })
}

async function insertLike (db: Db, { postId, accountId }: Like) {
  const event = {
    ...ofVisible,
    likedBy: sql<string>`inserted.account_id`,
    excerpt: sql<string | null>`visible.excerpt`
  }
  const { rows: [post] } = await publishSql(db, (insertEvent) =>
    sql<{ isLiked: boolean }>`
    with ${visible(postId, accountId)},
    inserted as (insert into likes (post_id, account_id) select id, ${asUuid(accountId)} from visible
      on conflict (post_id, account_id) do nothing returning account_id),
    published as (${insertEvent(PostLiked, sql`visible.id::text`, event, sql`inserted, visible`)}),
    counted as (update posts set likes_count = likes_count + 1 from published, visible where posts.id = visible.id)
    select exists (select from inserted) as "isLiked" from visible`)
  if (!post) throw await hiddenPostError(db, postId, accountId)
  if (!post.isLiked) throw new AlreadyLiked()
}

/** @throws NotLiked, and the errors of reading the post */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  const event = { ...ofVisible, unlikedBy: sql<string>`removed.account_id` }
  const { rows: [post] } = await publishSql(db, (insertEvent) =>
    sql<{ isUnliked: boolean }>`
    with ${visible(postId, accountId)},
    removed as (delete from likes using visible where likes.post_id = visible.id
      and likes.account_id = ${asUuid(accountId)} returning likes.account_id),
    published as (${insertEvent(PostUnliked, sql`visible.id::text`, event, sql`removed, visible`)}),
    counted as (update posts set likes_count = likes_count - 1 from published, visible where posts.id = visible.id)
    select exists (select from removed) as "isUnliked" from visible`)
  if (!post) throw await hiddenPostError(db, postId, accountId)
  if (!post.isUnliked) throw new NotLiked()
}

const ofVisible = { postId: sql<string>`visible.id`, authorId: sql<string>`visible.author_id` }
const visible = (postId: string, viewer: string) =>
  sql`
  visible as (select posts.id, posts.author_id, ${excerptOfPost} as excerpt from posts
    where posts.id = ${asUuid(postId)} and ${canSeePost(viewer)})`
