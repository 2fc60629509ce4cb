import { sql } from 'kysely'
import { selectPosts } from '../posts/queries.ts'
import type { Db, Trx } from '../schema.ts'
import { matching, type FeedQuery, type Filters } from './queries.ts'

const RANKED = 1_000
// A ranking that is cheap to make is made for every first page; a dear one is used for 50 times as long as it took.
const CHEAP = 50
const WORTH = 50

/** Who leafs: a device leafs through one ranking, from its first page to its last. */
interface Reader { accountId: string, sessionId: string }

/**
 * Public posts of the last seven days, those that people take most part in and that are young first. Pages are cut from a ranking
 * that stays as it was when the first of them was read; what became invisible since is left out.
 */
export async function readTrending (db: Db, { accountId, sessionId }: Reader, { cursor, limit, ...filters }: FeedQuery) {
  const scope = JSON.stringify([filters.type ?? null, filters.hashtag ?? null, filters.mentioned ?? null])
  const rankingId = cursor === undefined
    ? await beginReading(db, sessionId, scope, filters)
    : await findRanking(db, sessionId, scope)
  if (rankingId === undefined) return []

  const after = cursor === undefined ? sql`0` : sql`array_position(rankings.post_ids, ${cursor}::uuid)`
  const ranked = sql<{ id: string, place: number }>`(
    select ranked.id, ranked.place from rankings, unnest(rankings.post_ids) with ordinality as ranked (id, place)
    where rankings.id = ${rankingId} and ranked.place > ${after}
    -- In order already, so that no more of them are looked up than the page takes.
    order by ranked.place)`
  return await selectPosts(db, accountId)
    .innerJoin(ranked.as('ranked'), 'ranked.id', 'posts.id')
    .where(sql<boolean>`posts.visibility = 'PUBLIC'`)
    .orderBy('ranked.place')
    .limit(limit + 1)
    .execute()
}

async function beginReading (db: Db, sessionId: string, scope: string, filters: Filters) {
  const rankingId = await findOrMakeRanking(db, scope, filters)
  await db.insertInto('ranking_readers').values({ session_id: sessionId, scope, ranking_id: rankingId })
    .onConflict((conflict) => conflict.columns(['session_id', 'scope']).doUpdateSet({ ranking_id: rankingId }))
    .execute()
  return rankingId
}

async function findOrMakeRanking (db: Db, scope: string, filters: Filters) {
  const newest = await db.selectFrom('rankings').where('scope', '=', scope)
    .select(['id', sql<boolean>`took > ${CHEAP}`.as('isDear'), sql<boolean>`made_at > now() - took * ${WORTH} * interval '1 millisecond'`.as('isRecent')])
    .orderBy('id', 'desc').limit(1)
    .executeTakeFirst()
  if (newest?.isDear && newest.isRecent) return newest.id

  return await db.transaction().execute(async (trx) => {
    if (newest?.isDear) {
      // One makes the next, and the others go on with this one meanwhile.
      const { rows } = await sql<{ isFirst: boolean }>`select pg_try_advisory_xact_lock(hashtext('ranking'), hashtext(${scope})) as "isFirst"`.execute(trx)
      if (!rows[0]?.isFirst) return newest.id
    }
    return await makeRanking(trx, scope, filters)
  })
}

async function makeRanking (trx: Trx, scope: string, filters: Filters) {
  const since = performance.now()
  const ranked = await trx.selectFrom('posts')
    .where(sql<boolean>`posts.deleted_at is null and posts.visibility = 'PUBLIC'`)
    // A little more than the week by id, for the index, and the week itself.
    .where(sql<boolean>`posts.id > (select uuidv7(interval '-7 days -1 minute'))`)
    .where(sql<boolean>`posts.created_at > now() - interval '7 days'`)
    .where(matching(filters))
    .select('posts.id')
    .orderBy(sql`(likes_count + 2 * comments_count + 0.1 * views_count + 1)
      / power(extract(epoch from now() - created_at)::float8 / 3600 + 2, 1.5)`, 'desc')
    .orderBy('posts.id', 'desc')
    .limit(RANKED)
    .execute()
  const { id } = await trx.insertInto('rankings')
    .values({ scope, post_ids: ranked.map((post) => post.id), took: Math.round(performance.now() - since) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The ranking this device leafs through, or where that is gone the newest there is. */
async function findRanking (db: Db, sessionId: string, scope: string) {
  const read = await db.selectFrom('ranking_readers').where('session_id', '=', sessionId).where('scope', '=', scope)
    .select('ranking_id').executeTakeFirst()
  if (read) return read.ranking_id
  const newest = await db.selectFrom('rankings').where('scope', '=', scope).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return newest?.id
}

/** Forgets rankings that nobody leafs through any more. */
export async function clearRankings (db: Db) {
  await db.deleteFrom('rankings').where('made_at', '<', sql<Date>`now() - interval '1 hour'`).execute()
}
