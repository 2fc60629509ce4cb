import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { PostLiked, PostUnliked } from '@tandem/contracts'
import { idOf } from '../connections/predicates.ts'
import { AlreadyLiked, NotLiked } from '../errors.ts'
import { excerptOf, explainUnseen, visiblePost } from '../posts/visibility.ts'
import type { Db, Trx, Visibility } from '../schema.ts'

interface Like { postId: string, accountId: string }
interface Changed { authorId: string, content: string, visibility: Visibility, isChanged: boolean }

// The post's row is counted last, right before the commit, so that those who like one post at the same moment wait for each other
// as short as can be. Nobody who holds a post's row ever waits for a like, so no two can wait for each other in a circle.

/** @throws what reading the post would, AlreadyLiked */
export async function likePost (db: Db, { postId, accountId }: Like) {
  await db.transaction().execute(async (trx) => {
    const { rows: [post] } = await sql<Changed>`
      with ${seen(postId, accountId)},
      added as (insert into likes (post_id, account_id) select id, ${idOf(accountId)} from seen on conflict do nothing returning id)
      select seen.*, exists (select from added) as "isChanged" from seen`.execute(trx)
    if (!post) throw await explainUnseen(trx, postId, accountId)
    if (!post.isChanged) throw new AlreadyLiked()

    await record(trx, PostLiked, postId, { postId, authorId: post.authorId, likedBy: accountId, excerpt: excerptOf(post.content, post.visibility) })
    await count(trx, postId, 1)
  })
}

/** @throws what reading the post would, NotLiked */
export async function unlikePost (db: Db, { postId, accountId }: Like) {
  await db.transaction().execute(async (trx) => {
    const { rows: [post] } = await sql<Changed>`
      with ${seen(postId, accountId)},
      dropped as (delete from likes using seen where likes.post_id = seen.id and likes.account_id = ${idOf(accountId)} returning likes.id)
      select seen.*, exists (select from dropped) as "isChanged" from seen`.execute(trx)
    if (!post) throw await explainUnseen(trx, postId, accountId)
    if (!post.isChanged) throw new NotLiked()

    await record(trx, PostUnliked, postId, { postId, authorId: post.authorId, unlikedBy: accountId })
    await count(trx, postId, -1)
  })
}

const seen = (postId: string, viewer: string) => sql`
  seen as (select posts.id, posts.author_id as "authorId", posts.content, posts.visibility from posts where posts.id = ${idOf(postId)} and ${visiblePost(viewer)})`

const count = async (trx: Trx, postId: string, by: 1 | -1) =>
  await trx.updateTable('posts').where('id', '=', postId).set((row) => ({ likes_count: row('likes_count', '+', by) })).execute()
