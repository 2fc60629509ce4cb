import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'

// The cursor of a page holds a place in three hexadecimal digits.
const RANKED = 1_000
/** How often a process looks whether a ranking is due, in milliseconds. */
export const LOOK_EVERY_MS = 3_000
// A little less, so that one process alone makes one at each look.
const FRESH_FOR_MS = 2_500
// However many posts a week has, making rankings takes up to a fiftieth of one connection.
const MAX_SHARE = 1 / 50
// How long somebody may take from one page to the next, and have no post twice.
const KEPT = '30 minutes'

/**
 * Ranks the public posts of the last seven days: those that people take most part in and that are young first. There is one ranking for
 * everybody, made every three seconds or less often, whoever calls this and however often; none is written while the order stays as it is.
 */
export async function makeRanking (db: Db) {
  await db.transaction().execute(async (trx) => {
    const { rows: [turn] } = await sql<{ isMine: boolean }>`
      select pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext('trending')) as "isMine"`.execute(trx)
    if (!turn?.isMine) return
    const newest = await trx.selectFrom('trending_rankings')
      .select(['number', 'post_ids', sql<boolean>`confirmed_at > now() - greatest(${FRESH_FOR_MS}, took_ms / ${MAX_SHARE}::float8) * interval '1 millisecond'`.as('isRecent')])
      .orderBy('number', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (newest?.isRecent) return

    const since = performance.now()
    const postIds = await rankPosts(trx)
    const tookMs = Math.round(performance.now() - since)
    if (newest && postIds.join() === newest.post_ids.join()) {
      await trx.updateTable('trending_rankings').set({ took_ms: tookMs, confirmed_at: sql`now()` }).where('number', '=', newest.number).execute()
      return
    }
    await trx.insertInto('trending_rankings').values({ post_ids: postIds, took_ms: tookMs }).execute()
    await trx.deleteFrom('trending_rankings').where('confirmed_at', '<', sql<Date>`now() - ${KEPT}::interval`).execute()
  })
}

async function rankPosts (trx: Trx) {
  const ranked = await trx.selectFrom('posts')
    .where(sql<boolean>`posts.deleted_at is null and posts.visibility = 'PUBLIC'`)
    // A little more than the week by id, for the index, and the week itself.
    .where(sql<boolean>`posts.id > (select uuidv7(interval '-7 days -1 minute'))`)
    .where(sql<boolean>`posts.created_at > now() - interval '7 days'`)
    .select('posts.id')
    .orderBy(sql`(likes_count + 2 * comments_count + 0.1 * views_count + 1)
      / power(extract(epoch from now() - created_at)::float8 / 3600 + 2, 1.5)`, 'desc')
    .orderBy('posts.id', 'desc')
    .limit(RANKED)
    .execute()
  return ranked.map((post) => post.id)
}
