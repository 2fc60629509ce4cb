import { sql } from 'kysely'
import { MAX_TIME_SHARE, runAlone } from '../run-alone.ts'
import type { Db, Trx } from '../tables.ts'
import { asUuid } from '../visibility/people.ts'
import { parseHashtags } from './parsing.ts'
import { countTags, MAX_USES_OF_SMALL_WEEK, weekAgo } from './queries.ts'

// A little shorter than the minute between the checks of an idle process.
const SMALL_WEEK_TTL_MS = 55_000
// How many tags are kept, of which those of a viewer with blocks are chosen.
const MAX_TAGS = 200
// A week with more uses of tags is counted from its newest ones, so that a count ends well within the timeout.
const MAX_USES = 100_000

export async function insertHashtags (trx: Trx, postId: string, content: string) {
  const tags = parseHashtags(content)
  if (tags.length === 0) return
  await trx.insertInto('post_hashtags').values(tags.map((tag) => ({ tag, post_id: postId }))).execute()
}

/** Replaces the hashtags of a post with those in its current content. */
export async function replaceHashtags (trx: Trx, postId: string, content: string) {
  await trx.deleteFrom('post_hashtags').where('post_id', '=', postId).execute()
  await insertHashtags(trx, postId, content)
}

/**
 * Counts the hashtags of the week if that is due: in at most 1/50 of the time, and once a minute while there are so few
 * that requests count for themselves.
 */
export async function updateTagCounts (db: Db) {
  await runAlone(db, 'hashtags', async (trx) => {
    const last = await trx.selectFrom('hashtag_counts')
      .select(sql<boolean>`counted_at > now() - case when uses <= ${MAX_USES_OF_SMALL_WEEK} then ${SMALL_WEEK_TTL_MS}
        else duration_ms / ${MAX_TIME_SHARE}::float8 end * interval '1 millisecond'`.as('isRecent'))
      .executeTakeFirst()
    if (last?.isRecent) return

    const since = performance.now()
    const { rows: [week] } = await sql<{ uses: number, after: string }>`
      with newest as (
        select post_id from post_hashtags where post_id > ${weekAgo} order by post_id desc limit ${MAX_USES + 1}
      )
      select (select count(*) from newest) as uses,
        coalesce(
          (select post_id from newest order by post_id desc offset ${MAX_USES}),
          ${weekAgo}
        ) as after`.execute(trx)
    const { uses, after } = week!
    const tags = JSON.stringify(await countTags(trx, { after: asUuid(after), limit: MAX_TAGS }))
    const durationMs = Math.ceil(performance.now() - since)
    const counts = { tags, uses, after, duration_ms: durationMs, counted_at: sql<Date>`now()` }
    await trx.insertInto('hashtag_counts').values(counts)
      .onConflict((conflict) => conflict.column('is_only').doUpdateSet(counts))
      .execute()
  })
}
