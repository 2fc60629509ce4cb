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
// They are compared with each other, in about 20 ms.
const MAX_SQUARES = 500
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
  /** Of the people who have a venue of this name there; at most MIN_PEOPLE in a square. */
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
    await db.deleteFrom('places').where('source', '=', 'PEOPLE').where('removed_at', 'is', null).execute()
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
  const rows = await db.selectFrom('places').where('source', '=', 'PEOPLE').where('removed_at', 'is', null)
    .select('name_key').union(ofEnoughPeople)
    .execute()
  return rows.map(({ name_key }) => name_key)
}

async function updatePlaces (trx: Trx, nameKey: string) {
  const chosenBy = await readChoices(trx, nameKey)
  const places = findClusters(await readSquares(trx, nameKey)).flatMap((cluster) => {
    const place = toPlace(nameKey, cluster)
    const people = new Set([...cluster.profileIds, ...chosenBy.get(place.id) ?? []])
    return people.size >= MIN_PEOPLE ? [place] : []
  })
  const chosen = [...chosenBy].filter(([, people]) => people.length >= MIN_PEOPLE).map(([id]) => id)
  await trx.deleteFrom('places').where('name_key', '=', nameKey).where('source', '=', 'PEOPLE')
    .where('removed_at', 'is', null)
    .where('id', '<>', sql<string>`all(${[...places.map(({ id }) => id), ...chosen]}::text[])`)
    .execute()
  if (places.length === 0) return
  await trx.insertInto('places').values(places).onConflict((conflict) => conflict.doNothing()).execute()
}

const someProfileIds = sql<string[]>`(array_agg(distinct profile_id::text))[:${sql.lit(MIN_PEOPLE)}]`

/** Who has chosen a place of this name, whose authors may be gone; of each place at most MIN_PEOPLE. */
async function readChoices (trx: Trx, nameKey: string) {
  const rows = await restedVenues(trx, nameKey).where('place_id', 'like', 'people:%')
    .groupBy('place_id')
    .select([sql<string>`place_id`.as('id'), someProfileIds.as('profileIds')])
    .execute()
  return new Map(rows.map(({ id, profileIds }) => [id, profileIds]))
}

const restedVenues = (trx: Trx, nameKey: string) =>
  trx.selectFrom('venues').innerJoin('profiles', 'profiles.id', 'profile_id')
    .where('status', '=', 'ACTIVE').where('hidden', '=', sql.lit(false))
    .where('name_key', '=', nameKey).where('venues.latitude', 'is not', null)
    .where('changed_at', '<=', sql<Date>`now() - ${sql.lit(RESTING_TIME)}::interval`)

/** Where people have written a venue of this name, the squares with the most of them first. */
async function readSquares (trx: Trx, nameKey: string): Promise<Square[]> {
  const square = (column: string) => sql`floor(${sql.ref(column)} * ${sql.lit(SQUARES_PER_DEGREE)})`
  const mostFrequent = <Value>(column: string) => sql<Value>`mode() within group (order by ${sql.ref(column)})`
  return await restedVenues(trx, nameKey)
    .where(sql<boolean>`coalesce(place_id, '') not like 'people:%'`)
    .groupBy([square('venues.latitude'), square('venues.longitude')])
    .select([
      mostFrequent<string>('name').as('name'),
      mostFrequent<string | null>('venues.city').as('city'),
      mostFrequent<string | null>('chain_id').as('chainId'),
      sql<number>`avg(venues.latitude)`.as('latitude'),
      sql<number>`avg(venues.longitude)`.as('longitude'),
      someProfileIds.as('profileIds')
    ])
    .orderBy(sql`count(*)`, 'desc').orderBy('latitude').orderBy('longitude')
    .limit(MAX_SQUARES)
    .execute()
}

/** Squares within 150 m of each other are one gym. */
function findClusters (squares: Square[]) {
  const clusters: Square[] = []
  for (const square of squares) {
    if (clusters.some((other) => isNear(square, other))) continue
    const near = squares.filter((other) => isNear(square, other))
    clusters.push({
      ...square,
      city: near.find(({ city }) => city !== null)?.city ?? null,
      chainId: near.find(({ chainId }) => chainId !== null)?.chainId ?? null,
      profileIds: near.flatMap(({ profileIds }) => profileIds)
    })
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
