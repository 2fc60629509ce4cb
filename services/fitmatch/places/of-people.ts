import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { roundDegrees } from '../position.ts'
import type { Db, Trx } from '../tables.ts'
import type { Place } from './fitness.ts'

const MIN_PEOPLE = 3
const MAX_METRES = 150
const METRES_PER_DEGREE = 111_190
// A square of it, of about 55 m, counts as one position.
const SQUARES_PER_DEGREE = 2_000
// Of a name such as Home, which many people use, those where most people are.
const MAX_SQUARES = 2_000
// Somebody who moves venues of their own to where they suspect another person's learns at most once a day whether three
// are there.
const RESTING_TIME = '1 day'
// Housekeeping runs every hour, and may have been down.
const LOOK_BACK = '4 days'

interface Square {
  name: string
  city: string | null
  chainId: string | null
  latitude: number
  longitude: number
  /** At most MIN_PEOPLE of the people who have a venue of this name there. */
  profileIds: string[]
}

/**
 * Makes a place of each gym that at least three people have added: venues alike in name, within 150 m of each other. It
 * shows the position on the grid. Without three people it is deleted. Imported places replace all of them.
 */
export async function updatePlacesOfPeople (db: Db): Promise<void> {
  const imported = await db.selectFrom('places').where('source', '<>', 'PEOPLE').select('id').limit(1)
    .executeTakeFirst()
  if (imported) {
    await db.deleteFrom('places').where('source', '=', 'PEOPLE').execute()
    return
  }
  for (const name of await listNames(db)) await db.transaction().execute(async (trx) => await updatePlaces(trx, name))
}

/** The names of the places that there are, and those of enough people, one of whose venues has rested. */
async function listNames (db: Db) {
  const rested = db.selectFrom('venues').where('latitude', 'is not', null)
    .where('changed_at', '>', sql<Date>`now() - ${sql.lit(LOOK_BACK)}::interval`)
    .where('changed_at', '<=', sql<Date>`now() - ${sql.lit(RESTING_TIME)}::interval`)
    .select('name_key')
  const ofEnoughPeople = db.selectFrom('venues').where('latitude', 'is not', null).where('name_key', '<>', '')
    .where('name_key', 'in', rested)
    .groupBy('name_key')
    .having(({ fn }) => fn.count('profile_id').distinct(), '>=', MIN_PEOPLE)
    .select('name_key')
  const rows = await db.selectFrom('places').where('source', '=', 'PEOPLE').select('name_key').union(ofEnoughPeople)
    .execute()
  return rows.map(({ name_key }) => name_key)
}

async function updatePlaces (trx: Trx, nameKey: string) {
  const adopted = await readAdopted(trx, nameKey)
  const places = new Map(
    findClusters(await readSquares(trx, nameKey)).map((square) => {
      const place = toPlace(nameKey, square)
      return [place.id, place]
    })
  )
  await trx.deleteFrom('places').where('name_key', '=', nameKey).where('source', '=', 'PEOPLE')
    .where('id', '<>', sql<string>`all(${[...places.keys(), ...adopted]}::text[])`)
    .execute()
  if (places.size === 0) return
  await trx.insertInto('places').values([...places.values()]).onConflict((conflict) => conflict.doNothing()).execute()
}

/** The places that three people have chosen, which stay although nobody else may have written them. */
async function readAdopted (trx: Trx, nameKey: string) {
  const rows = await trx.selectFrom('venues').where('name_key', '=', nameKey).where('latitude', 'is not', null)
    .where('place_id', 'like', 'people:%')
    .groupBy('place_id')
    .having(({ fn }) => fn.count('profile_id').distinct(), '>=', MIN_PEOPLE)
    .select('place_id')
    .execute()
  return rows.flatMap(({ place_id }) => place_id ?? [])
}

/** Where people have written a venue of this name, the squares with the most of them first. */
async function readSquares (trx: Trx, nameKey: string): Promise<Square[]> {
  const { rows } = await sql<Square>`
    select mode() within group (order by venues.name) as name, mode() within group (order by venues.city) as city,
      mode() within group (order by chain_id) as "chainId",
      avg(venues.latitude) as latitude, avg(venues.longitude) as longitude,
      (array_agg(distinct profile_id::text))[:${sql.lit(MIN_PEOPLE)}] as "profileIds"
    from venues join profiles on profiles.id = profile_id and status = 'ACTIVE' and not hidden
    where name_key = ${nameKey} and venues.latitude is not null
      and changed_at <= now() - ${sql.lit(RESTING_TIME)}::interval
      and (place_id is null or place_id not like 'people:%')
    group by floor(venues.latitude * ${sql.lit(SQUARES_PER_DEGREE)}), floor(venues.longitude * ${
    sql.lit(SQUARES_PER_DEGREE)
  })
    order by count(*) desc, latitude, longitude limit ${sql.lit(MAX_SQUARES)}`.execute(trx)
  return rows
}

/** The squares around which at least three people are; one for each gym. */
function findClusters (squares: Square[]) {
  const clusters: Square[] = []
  for (const square of squares) {
    if (clusters.some((other) => isNear(square, other))) continue
    const near = squares.filter((other) => isNear(square, other))
    const people = new Set(near.flatMap(({ profileIds }) => profileIds))
    if (people.size < MIN_PEOPLE) continue
    const city = near.find((other) => other.city !== null)?.city ?? null
    const chainId = near.find((other) => other.chainId !== null)?.chainId ?? null
    clusters.push({ ...square, city, chainId })
  }
  return clusters
}

function isNear (one: Square, other: Square) {
  const north = (one.latitude - other.latitude) * METRES_PER_DEGREE
  const east = (one.longitude - other.longitude) * METRES_PER_DEGREE * Math.cos(one.latitude * Math.PI / 180)
  return Math.hypot(north, east) <= MAX_METRES
}

/** The id is made of the name and the grid position, so it stays the same while people come and go. */
function toPlace (nameKey: string, { name, city, chainId, ...exact }: Square): Place {
  const latitude = roundDegrees(exact.latitude) ?? 0
  const longitude = roundDegrees(exact.longitude) ?? 0
  const hash = createHash('sha256').update(JSON.stringify([nameKey, latitude, longitude])).digest('base64url')
  return {
    id: `people:${hash.slice(0, 16)}`,
    source: 'PEOPLE',
    name,
    name_key: nameKey,
    city,
    chain_id: chainId,
    latitude,
    longitude
  }
}
