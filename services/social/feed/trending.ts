import { sql } from 'kysely'
import { selectPosts } from '../posts/queries.ts'
import type { Db } from '../tables.ts'
import { cachePage, type FeedQuery } from './pages.ts'
import { matchesFilters } from './queries.ts'

/** Where a page ends: the number of the ranking and the position of the post in it. */
interface RankingPosition {
  number: number
  position: number
}

/**
 * The posts of the newest ranking, or of the ranking that `cursor` names, so pages stay consistent while scores change.
 * Posts that are no longer visible are left out. After half an hour the ranking is deleted, and the cursor continues at
 * the same position in the newest one.
 */
export async function readTrending (db: Db, reader: string, { cursor, ...query }: FeedQuery) {
  const last = cursor === undefined ? undefined : parseCursor(cursor)
  return await readRanked(db, reader, { ...query, ...last ?? { cursor } })
}

const readRanked = cachePage((
  db,
  reader,
  { number, position, cursor, limit, ...filters }: FeedQuery & Partial<RankingPosition>
) => {
  const ranking = sql`(select number, post_ids from trending_rankings order by
    ${number === undefined ? sql`` : sql`number = ${number} desc,`} number desc limit 1) ranking`
  const after = position !== undefined
    ? sql`${position}`
    : cursor === undefined
    ? sql`0`
    : sql`array_position(post_ids, ${cursor}::uuid)`
  const ranked = sql<{ id: string } & RankingPosition>`(
    select ranked.id, ranking.number, ranked.position::integer
      from ${ranking}, unnest(post_ids) with ordinality as ranked (id, position)
    where ranked.position > ${after}
    -- By the very expression that orders the page: then Postgres looks up only as many posts as the page needs.
    order by ranked.position::integer)`
  return selectPosts(db, reader)
    .innerJoin(ranked.as('ranked'), 'ranked.id', 'posts.id')
    .where(sql<boolean>`posts.visibility = 'PUBLIC'`)
    .where(matchesFilters(reader, filters))
    .select(['ranked.number', 'ranked.position'])
    .orderBy('ranked.position')
    .limit(limit + 1)
})

/**
 * Cursors are UUIDs everywhere, so a position is written as one: twelve hexadecimal digits of the ranking, the UUID
 * version 8, which no id has, and three digits of the position.
 */
export function formatCursor ({ number, position }: RankingPosition) {
  const ranking = number.toString(16).padStart(12, '0')
  return `${ranking.slice(0, 8)}-${ranking.slice(8)}-8${position.toString(16).padStart(3, '0')}-8000-000000000000`
}

/** Undefined for the id of a post, which a client can also send as a cursor. */
function parseCursor (cursor: string): RankingPosition | undefined {
  const [, high, low, position] = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8000-0{12}$/i.exec(cursor) ?? []
  return high && low && position
    ? { number: Number.parseInt(high + low, 16), position: Number.parseInt(position, 16) }
    : undefined
}
