import { sql } from 'kysely'
import { asUuid, isBlocked, type AccountRef } from './people.ts'

// A number equals the list that it stands beside: it leaves out hidden people, as nobody else sees them, people in a
// block with the viewer, and in comments those in a block with the author of the post. A page shows many numbers, so the
// rows of hidden people are marked, and few: see hidden-rows.ts.

/**
 * Returns a function that counts rows for a viewer.
 * @param counter the column that counts all of them
 * @param rows the counted rows, as `counted`
 * @param person the column with the person of a row
 * @param isHidden whether nobody but the person sees a row: the predicate of a partial index
 * @param listBlockers the people whose blocks, in either direction, hide a row from a viewer
 */
function counted (
  counter: string,
  rows: string,
  {
    person = 'account_id',
    isHidden = 'counted.account_hidden',
    listBlockers = (viewer: AccountRef): AccountRef[] => [viewer]
  } = {}
) {
  const from = sql.raw(`from ${rows}`)
  const by = sql.ref<string>(`counted.${person}`)
  const hidden = sql.raw(isHidden)
  const total = sql.raw(counter)
  return (viewer: AccountRef) => {
    const me = asUuid(viewer)
    const blockers = listBlockers(viewer)
    const blocks = sql.join(
      blockers.map((each) =>
        sql`select block.other_id from blocks block where block.account_id = ${asUuid(each)} and not block.is_lifted`
      ),
      sql` union all `
    )
    const isByBlocked = sql.join(blockers.map((each) => isBlocked(each, by)), sql` or `)
    const ofHidden = sql`(select count(*) ${from} and ${hidden} and ${by} <> ${me})`
    const amongAll = sql`(select count(*) ${from} and not ${hidden} and (${isByBlocked}) and ${by} <> ${me})`
    const ofEachBlocked = sql`(
      select coalesce(sum(of_one.rows), 0)::bigint from (select distinct other_id from (${blocks}) block) block
      cross join lateral (select count(*) as rows ${from} and not ${hidden} and ${by} = block.other_id) of_one
      where block.other_id <> ${me})`
    // A popular person is in blocks with very many, and a popular post has very many rows: it reads what is less.
    return sql<number>`(case when ${total} = 0 then 0 else ${total} - ${ofHidden}
      - case when exists (select from (${blocks}) block offset ${total}) then ${amongAll} else ${ofEachBlocked} end end)`
  }
}

const ofComments = {
  person: 'author_id',
  isHidden: '(counted.author_hidden or counted.hidden_at is not null)',
  listBlockers: (viewer: AccountRef) => [viewer, sql.ref<string>('posts.author_id')]
}

export const likesCount = counted('posts.likes_count', 'likes counted where counted.post_id = posts.id')
/** The comments of the row of `posts`, with replies. */
export const commentsCount = counted(
  'posts.comments_count',
  'comments counted where counted.post_id = posts.id',
  ofComments
)
/** The replies to the row of `comments`, which belongs to the row of `posts`. */
export const repliesCount = counted(
  'comments.replies_count',
  'comments counted where counted.parent_id = comments.id',
  ofComments
)
export const totalVotes = counted('polls.total_votes', 'poll_votes counted where counted.post_id = polls.post_id')
export const votesCount = counted(
  'poll_options.votes_count',
  'poll_votes counted where counted.post_id = poll_options.post_id and counted.option_id = poll_options.id'
)
export const viewCount = counted('stories.view_count', 'story_views counted where counted.story_id = stories.id')
export const reactionCount = counted(
  'stories.reaction_count',
  'story_reactions counted where counted.story_id = stories.id'
)
/** The followers of the row of `people`. */
export const followersCount = counted(
  'coalesce(follow_counts.followers_count, 0)',
  'follows counted where counted.followed_id = people.account_id',
  { person: 'follower_id', isHidden: 'counted.follower_hidden' }
)
/** How many people the row of `people` follows. */
export const followingCount = counted(
  'coalesce(follow_counts.following_count, 0)',
  'follows counted where counted.follower_id = people.account_id',
  { person: 'followed_id', isHidden: 'counted.followed_hidden' }
)
