import type pg from 'pg'
import type { Written } from '../kit/settled-people.ts'

/** The acknowledged posts and comments that are not there exactly once, and unknown posts that are there twice. */
export async function findLost (database: pg.Pool, { posts, acknowledgedComments }: Written) {
  const { rows } = await database.query<{ content: string, count: number }>(
    `select content, count(*)::int as count from social.posts where content = any($1) group by content
    union all select content, count(*)::int from social.comments where content = any($2) group by content`,
    [[...posts.keys()], acknowledgedComments]
  )
  const found = new Map(rows.map(({ content, count }) => [content, count]))
  const lost = [...posts].filter(([content, outcome]) => {
    const count = found.get(content) ?? 0
    return count > 1 || (count === 0 && outcome === 'acknowledged')
  })
  return [...lost.map(([content]) => content), ...acknowledgedComments.filter((content) => found.get(content) !== 1)]
}

const counters = {
  'posts.likes_count': `select from social.posts where likes_count <>
    (select count(*) from social.likes where post_id = posts.id)`,
  'posts.comments_count': `select from social.posts where comments_count <>
    (select count(*) from social.comments where post_id = posts.id)`,
  'comments.replies_count': `select from social.comments each where replies_count <>
    (select count(*) from social.comments where parent_id = each.id)`,
  'follow_counts.followers_count': `select from social.follow_counts each where followers_count <>
    (select count(*) from social.follows where followed_id = each.account_id)`,
  'follow_counts.following_count': `select from social.follow_counts each where following_count <>
    (select count(*) from social.follows where follower_id = each.account_id)`
}

/** The counters that are not the number of the rows that they count. */
export async function countWrongCounters (database: pg.Pool) {
  const wrong: string[] = []
  for (const [name, query] of Object.entries(counters)) {
    const { rowCount } = await database.query(query)
    if (rowCount) wrong.push(`${name}: ${rowCount}`)
  }
  return wrong
}
