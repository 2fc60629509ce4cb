import { sql } from 'kysely'
import type { Db } from '../tables.ts'
import { totalVotes, votesCount } from '../visibility/counts.ts'
import { asUuid } from '../visibility/people.ts'
import { canSeePost } from '../visibility/posts.ts'

export interface PollRow {
  question: string
  options: { id: string, text: string, votesCount: number }[]
  totalVotes: number
  endsAt: string | null
  myVote: string | null
}

/** The poll of a row of `posts` as JSON, with the vote of `viewer`; null for a post without one. */
export const pollOf = (viewer: string) =>
  sql<PollRow | null>`(
  select json_build_object(
    'question', polls.question,
    'totalVotes', ${totalVotes(viewer)},
    'endsAt', polls.ends_at,
    'myVote', (
      select option_id from poll_votes
      where poll_votes.post_id = polls.post_id and poll_votes.account_id = ${asUuid(viewer)}),
    'options', (
      select json_agg(
        json_build_object('id', poll_options.id, 'text', poll_options.text, 'votesCount', ${votesCount(viewer)})
        order by poll_options.position)
      from poll_options where poll_options.post_id = polls.post_id))
  from polls where polls.post_id = posts.id)`

/** The poll of a post; undefined if it has none, or if `viewer` cannot see the post. */
export async function findPoll (db: Db, postId: string, viewer: string) {
  const post = await db.selectFrom('posts').where('id', '=', postId).where(canSeePost(viewer))
    .select(pollOf(viewer).as('poll'))
    .executeTakeFirst()
  return post?.poll ?? undefined
}
