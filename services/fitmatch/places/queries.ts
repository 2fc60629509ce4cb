import { sql } from 'kysely'
import { distanceKmBetween } from '../candidates/score.ts'
import { cellRangesAround } from '../discover/cells.ts'
import type { Db } from '../tables.ts'
import { nameKeyOf } from './names.ts'

const MAX_PLACES = 20
// Each number of words is a statement of its own, which every connection prepares.
const MAX_WORDS = 5
// Most searches end within the first of these radii, in a city, where the last one would hold thousands of places.
const RADII_KM = [1, 5]

const hundredths = { latitude: sql`latitude * 100`, longitude: sql`longitude * 100` }

interface Search {
  query: string
  latitude: number
  longitude: number
  radiusKm: number
}

/** The places within a radius, nearest first. The first words of `query` are in their names. */
export async function searchPlaces (db: Db, search: Search) {
  const words = nameKeyOf(search.query).split(' ').filter(Boolean).slice(0, MAX_WORDS)
  for (const km of RADII_KM) {
    if (km >= search.radiusKm) break
    const nearest = await listNearest(db, search, { words, km })
    if (nearest.length === MAX_PLACES) return nearest
  }
  return await listNearest(db, search, { words, km: search.radiusKm })
}

async function listNearest (
  db: Db,
  { latitude, longitude }: Search,
  { words, km }: { words: string[], km: number }
) {
  const here = { latitude: latitude * 100, longitude: longitude * 100 }
  const ranges = cellRangesAround({ ...here, cell: 0 }, km)
  const hasWords = words.map((word) => sql` and name_key like ${`%${word}%`}`)
  const { rows } = await sql<{ id: string }>`
    select id, km from unnest(${ranges.map(({ first }) => first)}::int[], ${ranges.map(({ last }) => last)}::int[])
      as range (first_cell, last_cell)
    cross join lateral (
      select id, ${distanceKmBetween(here, hundredths)} as km from places
      where cell between first_cell and last_cell and removed_at is null ${sql.join(hasWords, sql``)}
      -- Keeps Postgres from joining all places with all ranges.
      offset 0
    ) as nearby
    where km <= ${km} order by km, id limit ${sql.lit(MAX_PLACES)}`.execute(db)
  return await listPlaces(db, rows.map(({ id }) => id))
}

/** The places with these ids, in their order. */
async function listPlaces (db: Db, ids: string[]) {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('places').where('id', 'in', ids).select(placeColumns).execute()
  const byId = new Map(rows.map((row) => [row.placeId, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

const placeColumns = ['id as placeId', 'name', 'city', 'latitude', 'longitude', 'chain_id as chainId'] as const

export async function findPlace (db: Db, id: string) {
  return await db.selectFrom('places').where('id', '=', id).where('removed_at', 'is', null).select(placeColumns)
    .executeTakeFirst()
}

/** Where the places are from. An import replaces those of people. */
export async function readSource (db: Db) {
  const place = await db.selectFrom('places').where('removed_at', 'is', null).select('source').limit(1)
    .executeTakeFirst()
  return place?.source ?? 'PEOPLE'
}
