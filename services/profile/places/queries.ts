import { sql } from 'kysely'
import { Degraded } from '@tandem/process-kit'
import { PlacesLoading } from '../errors.ts'
import type { Db } from '../tables.ts'

/** All countries, Indonesia first and then A to Z. */
export async function listCountries (db: Db) {
  return await db.selectFrom('countries')
    .select([sql<string>`id::text`.as('id'), 'code', 'name', 'flag', 'currency', 'default_timezone as defaultTimezone'])
    .orderBy(sql`code <> 'ID'`)
    .orderBy('name')
    .execute()
}

/** A country by its id or its two-letter code. */
export async function findCountry (db: Db, { id, code }: { id?: number | undefined, code?: string | undefined }) {
  return await db.selectFrom('countries')
    .select(['id', 'default_timezone as timezone'])
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? 0))
    .$if(code !== undefined, (query) => query.where('code', '=', code ?? ''))
    .executeTakeFirst()
}

export async function findRegion (db: Db, id: number) {
  return await db.selectFrom('regions').select(['id', 'country_id as countryId']).where('id', '=', id)
    .executeTakeFirst()
}

export async function findCity (db: Db, id: number) {
  return await db.selectFrom('cities')
    .select(['id', 'name', 'country_id as countryId', 'region_id as regionId', 'timezone', 'latitude', 'longitude'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The regions of a country, A to Z. */
export async function listRegions (db: Db, countryId: number) {
  return await db.selectFrom('regions')
    .select([sql<string>`id::text`.as('id'), 'code', 'name', 'name_local as nameLocal', 'timezone'])
    .where('country_id', '=', countryId)
    .orderBy('name')
    .execute()
}

/** The cities of a country or of a region, the largest first and then A to Z. */
export async function listCities (db: Db, { countryId, regionId }: { countryId?: number, regionId?: number }) {
  return await db.selectFrom('cities')
    .select([
      sql<string>`id::text`.as('id'),
      'name',
      'name_local as nameLocal',
      'timezone',
      sql<string | null>`region_id::text`.as('regionId')
    ])
    .$if(countryId !== undefined, (query) => query.where('country_id', '=', countryId ?? 0))
    .$if(regionId !== undefined, (query) => query.where('region_id', '=', regionId ?? 0))
    .orderBy('population', 'desc')
    .orderBy('name')
    .orderBy('id')
    .execute()
}

/** The edition of the places that is loaded. @throws PlacesLoading before the first one is loaded */
export async function readEdition (db: Db) {
  const edition = await db.selectFrom('places_editions').select('edition').orderBy('loaded_at', 'desc').limit(1)
    .executeTakeFirst()
  if (!edition) throw new PlacesLoading()
  return edition.edition
}

/** As a health check. @throws Degraded with the progress until an edition of the places is loaded */
export async function checkPlaces (db: Db) {
  const { edition, percent } = await db.selectNoFrom((eb) => [
    eb.selectFrom('places_editions').select('edition').limit(1).as('edition'),
    eb.selectFrom('places_loads').select(({ fn }) => fn.max('percent').as('percent')).as('percent')
  ]).executeTakeFirstOrThrow()
  if (!edition) throw new Degraded(`loading places, ${percent ?? 0} %`)
}
