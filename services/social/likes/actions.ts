import { sql } from 'kysely'
import { publishSql } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { idOf } from '../connections/predicates.ts'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import { excerptOfPost, explainHidden, visiblePost } from '../posts/visibility.ts'
import type { Db } from '../tables.ts'

interface Like { postId: string, accountId: string }

// A like is one statement: its row, then the event, and last the post's counter, each part reading the one before it. So a post that
// many like at once is held for no longer than a commit takes. Nobody who holds a post's row ever waits for a like.

/** @throws what reading the post would, AlreadyLiked */
export async function likePost (db: Db, { postId, accountId }: Like) {
  const { rows: [post] } = await sql<{ isLiked: boolean }>`
    with ${seen(postId, accountId)},
    added as (insert into likes (post_id, account_id) select id, ${idOf(accountId)} from seen on conflict (post_id, account_id) do nothing returning account_id),
    told as (${publishSql(PostLiked, sql`seen.id::text`, {
      postId: ofSeen.id, authorId: ofSeen.authorId, likedBy: sql<string>`added.account_id`, excerpt: sql<string | null>`seen.excerpt`
    }, sql`added, seen`)}),
    counted as (update posts set likes_count = likes_count + 1 from told, seen where posts.id = seen.id)
    select exists (select from added) as "isLiked" from seen`.execute(db)
  if (!post) throw await explainHidden(db, postId, accountId)
  if (!post.isLiked) throw new AlreadyLiked()
}

/** @throws what reading the post would, NotLiked */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  const { rows: [post] } = await sql<{ isUnliked: boolean }>`
    with ${seen(postId, accountId)},
    dropped as (delete from likes using seen where likes.post_id = seen.id and likes.account_id = ${idOf(accountId)} returning likes.account_id),
    told as (${publishSql(PostUnliked, sql`seen.id::text`, { postId: ofSeen.id, authorId: ofSeen.authorId, unlikedBy: sql<string>`dropped.account_id` }, sql`dropped, seen`)}),
    counted as (update posts set likes_count = likes_count - 1 from told, seen where posts.id = seen.id)
    select exists (select from dropped) as "isUnliked" from seen`.execute(db)
  if (!post) throw await explainHidden(db, postId, accountId)
  if (!post.isUnliked) throw new NotLiked()
}

const ofSeen = { id: sql<string>`seen.id`, authorId: sql<string>`seen.author_id` }
const seen = (postId: string, viewer: string) => sql`
  seen as (select posts.id, posts.author_id, ${excerptOfPost} as excerpt from posts where posts.id = ${idOf(postId)} and ${visiblePost(viewer)})`
