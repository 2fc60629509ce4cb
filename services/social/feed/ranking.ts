import { sql, type RawBuilder } from 'kysely'
import { runWhenDue, type Log } from '@tandem/process-kit'
import { updateTagCounts } from '../hashtags/actions.ts'
import { RANKED_FOR } from '../posts/views.ts'
import { MAX_TIME_SHARE, runAlone } from '../run-alone.ts'
import type { Db, Trx } from '../tables.ts'

// A cursor holds the position in three hexadecimal digits.
const MAX_RANKED = 1_000
const MAX_LEADING = 2 * MAX_RANKED
// A week with more public posts is ranked from its newest ones: a million took longer than a statement may.
const MAX_SCORED = 300_000
// How often a process that serves requests checks whether a new ranking is due.
const RANKING_CHECK_INTERVAL_MS = 3_000
// Without requests only the age of posts changes their order, and nobody reads it.
const IDLE_CHECK_INTERVAL_MS = 60_000
// How long after a request a process still counts as serving.
const IDLE_AFTER_MS = 30_000
// A little shorter than the interval, so that a single process computes one ranking per check.
const RANKING_TTL_MS = 2_500
// How long a reader can take from one page to the next without seeing a post twice. It keeps at most 600 rankings of
// 16 KB.
const RANKING_RETENTION = '30 minutes'

export type Ranking = ReturnType<typeof createRanking>

/**
 * The ranking of posts and the counts of hashtags, kept up to date in the background while this process serves
 * requests.
 */
export function createRanking (db: Db) {
  let servedAt = 0
  let checkedAt = 0
  let ring = () => {}
  const isServing = () => Date.now() - servedAt < IDLE_AFTER_MS
  return {
    /** To be called at each request. After a rest, both are checked at once. */
    onRequest () {
      const wasServing = isServing()
      servedAt = Date.now()
      if (!wasServing) ring()
    },
    /** Ranks posts and counts hashtags until the returned function is called. */
    start (log: Log) {
      const check = runWhenDue(async () => {
        await updateRanking(db)
        await updateTagCounts(db)
        checkedAt = Date.now()
      }, {
        findNext: async () => new Date(checkedAt + (isServing() ? RANKING_CHECK_INTERVAL_MS : IDLE_CHECK_INTERVAL_MS)),
        maxIntervalMs: IDLE_CHECK_INTERVAL_MS,
        log
      })
      ring = check.ring
      return check.stop
    }
  }
}

/**
 * Ranks the public posts of the last seven days by engagement and age. There is one ranking for everybody. It is
 * computed at most every three seconds, no matter how many processes call this how often, and written only if the order
 * has changed.
 */
export async function updateRanking (db: Db) {
  await runAlone(db, 'trending', async (trx) => {
    const newest = await trx.selectFrom('trending_rankings')
      .select([
        'number',
        'post_ids',
        sql<
          boolean
        >`confirmed_at > now()
          - greatest(${RANKING_TTL_MS}, duration_ms / ${MAX_TIME_SHARE}::float8) * interval '1 millisecond'`
          .as('isRecent')
      ])
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (newest?.isRecent) return

    const since = performance.now()
    const postIds = await rankPosts(trx)
    const durationMs = Math.round(performance.now() - since)
    if (newest && postIds.join() === newest.post_ids.join()) {
      await trx.updateTable('trending_rankings').set({ duration_ms: durationMs, confirmed_at: sql`now()` }).where(
        'number',
        '=',
        newest.number
      ).execute()
      return
    }
    await trx.insertInto('trending_rankings').values({ post_ids: postIds, duration_ms: durationMs }).execute()
    await trx.deleteFrom('trending_rankings').where(
      'confirmed_at',
      '<',
      sql<Date>`now() - ${RANKING_RETENTION}::interval`
    ).execute()
  })
}

/**
 * What people other than the author did counts, and each person once, so that nobody makes a trend alone. These numbers
 * are read only of the posts that lead by their counters, which are never lower.
 */
export async function rankPosts (trx: Trx, maxScored = MAX_SCORED) {
  const likes = sql`(likes_count
    - (select count(*) from likes where post_id = posts.id and account_id = posts.author_id)
    - (select count(*) from likes where post_id = posts.id and account_id <> posts.author_id and account_hidden))`
  const commenters = sql`(select count(distinct author_id) from comments where post_id = posts.id
    and author_id <> posts.author_id and hidden_at is null and not author_hidden)`
  const readers = sql`(select count(*) from post_readers where post_id = posts.id
    and account_id not in (select account_id from hidden_people where is_hidden))`
  const ranked = await trx.selectFrom(selectLeading(trx, maxScored).as('posts'))
    .select('posts.id')
    .orderBy(score(likes, commenters, readers), 'desc')
    .orderBy('posts.id', 'desc')
    .limit(MAX_RANKED)
    .execute()
  return ranked.map((post) => post.id)
}

const selectLeading = (trx: Trx, maxScored: number) =>
  trx.selectFrom(selectNewest(trx, maxScored).as('posts'))
    .select(['posts.id', 'author_id', 'likes_count', 'created_at'])
    .orderBy(score(sql`likes_count`, sql`comments_count`, sql`views_count`), 'desc')
    .orderBy('posts.id', 'desc')
    .limit(MAX_LEADING)

const selectNewest = (trx: Trx, maxScored: number) =>
  trx.selectFrom('posts')
    .where(sql<boolean>`posts.deleted_at is null and posts.hidden_at is null and posts.visibility = 'PUBLIC'`)
    // The id condition covers slightly more and uses the index; created_at is exact.
    .where(sql<boolean>`posts.id > (select uuidv7(-(${sql.lit(RANKED_FOR)}::interval + interval '1 minute')))`)
    .where(sql<boolean>`posts.created_at > now() - ${sql.lit(RANKED_FOR)}::interval`)
    .select(['posts.id', 'author_id', 'likes_count', 'comments_count', 'views_count', 'created_at'])
    .orderBy('posts.id', 'desc')
    .limit(maxScored)

const score = (likes: RawBuilder<unknown>, comments: RawBuilder<unknown>, views: RawBuilder<unknown>) =>
  sql`(${likes} + 2 * ${comments} + 0.1 * ${views} + 1)
  / power(extract(epoch from now() - created_at)::float8 / 3600 + 2, 1.5)`
