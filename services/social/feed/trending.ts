import { sql } from 'kysely'
import { selectPosts, type PostRow } from '../posts/queries.ts'
import type { Db } from '../tables.ts'
import { matching, type FeedQuery } from './queries.ts'

/** Where a page ends: in which ranking, and after which of its posts. */
interface Place { number: number, place: number }

/**
 * The posts of the newest ranking, or of the one that `cursor` is of: its pages are the same however scores move meanwhile. What became
 * invisible since is left out. After half an hour a cursor is of the newest ranking, at the same place.
 */
export async function readTrending (db: Db, reader: string, { cursor, limit, ...filters }: FeedQuery): Promise<(PostRow & Place)[]> {
  const last = cursor === undefined ? undefined : placeOf(cursor)
  const ranking = sql`(select number, post_ids from trending_rankings order by ${last ? sql`number = ${last.number} desc,` : sql``} number desc limit 1) ranking`
  const after = last ? sql`${last.place}` : cursor === undefined ? sql`0` : sql`array_position(post_ids, ${cursor}::uuid)`
  const ranked = sql<{ id: string } & Place>`(
    select ranked.id, ranking.number, ranked.place::integer from ${ranking}, unnest(post_ids) with ordinality as ranked (id, place)
    where ranked.place > ${after}
    -- In order already, so that no more of them are looked up than the page takes.
    order by ranked.place)`
  return await selectPosts(db, reader)
    .innerJoin(ranked.as('ranked'), 'ranked.id', 'posts.id')
    .where(sql<boolean>`posts.visibility = 'PUBLIC'`)
    .where(matching(filters))
    .select(['ranked.number', 'ranked.place'])
    .orderBy('ranked.place')
    .limit(limit + 1)
    .execute()
}

/** A place as a cursor, which is a uuid everywhere: twelve digits of the ranking, a version that no id has, three digits of the place. */
export function cursorOf ({ number, place }: Place) {
  const ranking = number.toString(16).padStart(12, '0')
  return `${ranking.slice(0, 8)}-${ranking.slice(8)}-8${place.toString(16).padStart(3, '0')}-8000-000000000000`
}

/** Undefined for the id of a post, with which a client may go on, too. */
function placeOf (cursor: string): Place | undefined {
  const [, high, low, place] = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-8000-0{12}$/i.exec(cursor) ?? []
  return high && low && place ? { number: Number.parseInt(high + low, 16), place: Number.parseInt(place, 16) } : undefined
}
