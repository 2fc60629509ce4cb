import { sql, type RawBuilder } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { PostDeleted } from '@tandem/contracts'
import { removeComments } from '../comments/actions.ts'
import { lowerCounters, type Counted } from '../counters.ts'
import { detachMedia } from '../media/actions.ts'
import type { Trx } from '../tables.ts'
import { isAboutStoryOf, isInCaseOf, isInKeptCaseOf, isOnPostOf, ofComments } from './rows.ts'

// Each erases a batch of rows together with the counters of others.

/**
 * Deletes rows about posts or stories.
 * @param counters where the rows are counted: a table, its counter, and the column of a row with its key
 */
const deleteCounted = (
  table: 'likes' | 'poll_votes' | 'story_reactions' | 'story_views',
  about: 'post_id' | 'story_id',
  counters: [table: Counted, counter: string, column: string][]
) =>
async (trx: Trx, which: RawBuilder<boolean>, limit: number) => {
  const { rows } = await sql<Record<string, string>>`
    delete from ${sql.table(table)} where (${sql.ref(about)}, account_id) in (
      select ${sql.ref(about)}, account_id from ${sql.table(table)} where ${which} limit ${sql.lit(limit)}
    ) returning *`.execute(trx)
  for (const [counted, counter, column] of counters) {
    await lowerCounters(trx, counted, counter, rows.map((row) => row[column]!))
  }
  return rows.length
}

export const deleteLikes = deleteCounted('likes', 'post_id', [['posts', 'likes_count', 'post_id']])
export const deleteVotes = deleteCounted('poll_votes', 'post_id', [
  ['poll_options', 'votes_count', 'option_id'],
  ['polls', 'total_votes', 'post_id']
])
const deleteReactions = deleteCounted('story_reactions', 'story_id', [['stories', 'reaction_count', 'story_id']])
const deleteViews = deleteCounted('story_views', 'story_id', [['stories', 'view_count', 'story_id']])

/** Erases what an account did, and what others did to its posts or stories. */
const eraseActs =
  (deleteActs: typeof deleteLikes, isAboutTheirs: typeof isOnPostOf) =>
  async (trx: Trx, accountId: string, limit: number) =>
    await deleteActs(trx, sql`account_id = ${accountId} or ${isAboutTheirs(accountId)}`, limit)

export const eraseLikes = eraseActs(deleteLikes, isOnPostOf)
export const eraseVotes = eraseActs(deleteVotes, isOnPostOf)
export const eraseReactions = eraseActs(deleteReactions, isAboutStoryOf)
export const eraseViews = eraseActs(deleteViews, isAboutStoryOf)

export async function eraseStories (trx: Trx, accountId: string, limit: number) {
  const deleted = await trx.deleteFrom('stories')
    .where(
      'id',
      'in',
      (stories) => stories.selectFrom('stories').where('author_id', '=', accountId).select('id').limit(limit)
    )
    .returning('media_url as image')
    .execute()
  await detachMedia(trx, deleted.map(({ image }) => ({ accountId, image })))
  return deleted.length
}

// The number of posts that one batch locks.
const POSTS_PER_BATCH = 1_000

/** Comments of the account, and all on its posts. Replies of others stay, as when its author deletes a comment. */
export const eraseComments = async (trx: Trx, accountId: string, limit: number) =>
  await deleteComments(trx, ofComments(accountId), limit)

export async function deleteComments (trx: Trx, which: RawBuilder<boolean>, limit: number) {
  // Every change to the comments of a post takes this lock first, so no reply can be added meanwhile.
  const posts = await sql<{ id: string }>`
    select id from posts where id in (
      select post_id from comments where ${which} limit ${sql.lit(POSTS_PER_BATCH)}
    ) order by id for no key update`.execute(trx)
  const comments = await trx.selectFrom('comments').where(which)
    .where(sql<boolean>`post_id = any(${posts.rows.map(({ id }) => id)}::uuid[])`)
    // Replies first: a comment whose replies are all erased leaves no place behind.
    .select('id').orderBy(sql`parent_id is null`).limit(limit).execute()
  return comments.length === 0 ? 0 : await removeComments(trx, comments.map(({ id }) => id))
}

export async function erasePosts (trx: Trx, accountId: string, limit: number) {
  const deleted = await trx.deleteFrom('posts')
    .where(
      'id',
      'in',
      (posts) => posts.selectFrom('posts').where('author_id', '=', accountId).select('id').limit(limit)
    )
    .returning(['id', 'media_urls as images', 'deleted_at as deletedAt'])
    .execute()
  await detachMedia(trx, deleted.flatMap(({ images }) => images).map((image) => ({ accountId, image })))
  for (const { id, deletedAt } of deleted) {
    if (!deletedAt) await publish(trx, PostDeleted, id, { postId: id, authorId: accountId })
  }
  return deleted.length
}

export async function eraseFollows (trx: Trx, accountId: string, limit: number) {
  const batch = await trx.selectFrom('follows')
    .where((row) => row.or([row('follower_id', '=', accountId), row('followed_id', '=', accountId)]))
    .select(['id', 'follower_id', 'followed_id']).limit(limit).execute()
  if (batch.length === 0) return 0
  const people = batch.flatMap(({ follower_id, followed_id }) => [follower_id, followed_id])
  // In the order of lockFollowCounts, and before the follows, as when somebody follows.
  await sql`select from follow_counts where account_id = any(${people}::uuid[]) order by account_id for update`
    .execute(trx)
  const deleted = await trx.deleteFrom('follows').where('id', 'in', batch.map(({ id }) => id))
    .returning(['follower_id', 'followed_id']).execute()
  await sql`
    update follow_counts set
      following_count = following_count - deleted.following,
      followers_count = followers_count - deleted.followers
    from (
      select id, count(*) filter (where is_follower)::int as following, count(*) filter (where not is_follower)::int as followers
      from (
        select unnest(${deleted.map((row) => row.follower_id)}::uuid[]) as id, true as is_follower
        union all select unnest(${deleted.map((row) => row.followed_id)}::uuid[]), false
      ) ends group by id
    ) deleted
    where account_id = deleted.id`.execute(trx)
  return deleted.length
}

/** Reports that the person made lose their name: another person's case does not end because a reporter is erased. */
export async function eraseReports (trx: Trx, accountId: string, limit: number) {
  const { numUpdatedRows } = await trx.updateTable('reports')
    .set({ reporter_id: null, details: null, evidence: [] })
    .where(
      'id',
      'in',
      (reports) => reports.selectFrom('reports').where('reporter_id', '=', accountId).select('id').limit(limit)
    )
    .executeTakeFirst()
  const left = limit - Number(numUpdatedRows)
  const { numDeletedRows } = await trx.deleteFrom('reports')
    .where('id', 'in', (reports) =>
      reports.selectFrom('reports').where(isInCaseOf(accountId))
        .where((row) => row.not(isInKeptCaseOf(accountId))).select('id').limit(left))
    .executeTakeFirst()
  return Number(numUpdatedRows) + Number(numDeletedRows)
}

/** Evidence about somebody else's comment without the post and the comments around it that the person wrote. */
export const withoutPartOf = (accountId: string) =>
  sql<object>`content || jsonb_build_object(
    'post', case when content #>> '{post,authorId}' <> ${accountId} then content -> 'post' end,
    'around', jsonb_build_object(
      'parent', case when content #>> '{around,parent,authorId}' <> ${accountId} then content #> '{around,parent}' end,
      'before', (
        select coalesce(jsonb_agg(comment), '[]') from jsonb_array_elements(content #> '{around,before}') as comment
        where comment ->> 'authorId' is distinct from ${accountId}::text
      )
    ))`
