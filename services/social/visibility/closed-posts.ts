import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PostClosed, PostsClosed } from '@tandem/contracts'
import { chunksOf } from '@tandem/process-kit'
import type { Trx } from '../tables.ts'
import { canSeePost } from './posts.ts'

/** Keeps an event below the 64 KiB limit of the bus. */
export const MAX_IDS_PER_EVENT = 1_000

/** Publishes which people took part in a post, in a comment or a mention, and cannot see it any more. */
export async function publishClosed (trx: Trx, postId: string) {
  const { rows } = await sql<{ accountId: string }>`
    select participants.account_id as "accountId" from posts, lateral (
      select author_id as account_id from comments where post_id = posts.id
      union select account_id from mentions where post_id = posts.id
    ) participants
    where posts.id = ${postId} and not ${canSeePost(sql.ref<string>('participants.account_id'))}`.execute(trx)
  for (const chunk of chunksOf(rows, MAX_IDS_PER_EVENT)) {
    await publish(trx, PostClosed, postId, { postId, accountIds: chunk.map(({ accountId }) => accountId) })
  }
}

/** The same after an unfollow, for the followed person's posts for followers. */
export async function publishClosedBy (
  trx: Trx,
  { followerId, followedId }: { followerId: string, followedId: string }
) {
  const { rows } = await sql<{ postId: string }>`
    select id as "postId" from posts
    where author_id = ${followedId} and visibility = 'FOLLOWERS' and deleted_at is null and id in (
      select post_id from comments where author_id = ${followerId}
      union select post_id from mentions where account_id = ${followerId}
    )`.execute(trx)
  for (const chunk of chunksOf(rows, MAX_IDS_PER_EVENT)) {
    await publish(trx, PostsClosed, followedId, { accountId: followerId, postIds: chunk.map(({ postId }) => postId) })
  }
}
