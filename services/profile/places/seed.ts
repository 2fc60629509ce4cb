import { createReadStream } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { createBrotliDecompress } from 'node:zlib'
import { sql } from 'kysely'
import type { Db, Trx } from '../tables.ts'

export type SeedLine =
  | ['edition', string]
  | ['country', id: number, code: string, name: string, flag: string, currency: string | null, defaultTimezone: string]
  | [
    'region',
    id: number,
    countryId: number,
    code: string | null,
    name: string,
    nameLocal: string | null,
    timezone: string
  ]
  | [
    'city',
    id: number,
    countryId: number,
    regionId: number | null,
    name: string,
    nameLocal: string | null,
    timezone: string,
    population: number,
    latitude: number,
    longitude: number
  ]

const WORLD = path.join(import.meta.dirname, 'places.ndjson.br')
const BATCH_SIZE = 2_000

/**
 * Loads the countries, regions and cities of the world unless this edition is already loaded. It takes about 3 seconds,
 * in one transaction, so a crash leaves nothing half done. Other processes that start meanwhile skip the load.
 */
export async function loadPlaces (db: Db, file = WORLD) {
  const lines = createInterface({ input: createReadStream(file).pipe(createBrotliDecompress()), crlfDelay: Infinity })
    [Symbol.asyncIterator]()
  const first = JSON.parse((await lines.next()).value ?? 'null') as SeedLine | null
  if (first?.[0] !== 'edition') throw new Error(`${file} does not start with its edition`)
  const [, edition] = first
  const existing = await db.selectFrom('places_editions').where('edition', '=', edition).select('edition')
    .executeTakeFirst()
  if (existing) return

  await db.transaction().execute(async (trx) => {
    const lock = await sql<{ acquired: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(current_schema() || '.places', 0)) as acquired`.execute(trx)
    if (!lock.rows[0]?.acquired) return
    const loaded = await trx.selectFrom('places_editions').where('edition', '=', edition).select('edition')
      .executeTakeFirst()
    if (loaded) return

    let batch: SeedLine[] = []
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      batch.push(JSON.parse(line.value) as SeedLine)
      if (batch.length < BATCH_SIZE) continue
      await insertPlaces(trx, batch)
      batch = []
    }
    await insertPlaces(trx, batch)
    await trx.insertInto('places_editions').values({ edition }).execute()
  })
}

/** Upserts places. Countries must come before their regions, and regions before their cities. */
export async function insertPlaces (trx: Trx, lines: SeedLine[]) {
  const rows = (kind: SeedLine[0]) => JSON.stringify(lines.filter((line) => line[0] === kind))
  await sql`
    insert into countries (id, code, name, flag, currency, default_timezone)
    select (row->>1)::integer, row->>2, row->>3, row->>4, row->>5, row->>6
    from jsonb_array_elements(${rows('country')}::jsonb) row
    on conflict (id) do update set code = excluded.code, name = excluded.name, flag = excluded.flag,
      currency = excluded.currency, default_timezone = excluded.default_timezone`.execute(trx)
  await sql`
    insert into regions (id, country_id, code, name, name_local, timezone)
    select (row->>1)::integer, (row->>2)::integer, row->>3, row->>4, row->>5, row->>6
    from jsonb_array_elements(${rows('region')}::jsonb) row
    on conflict (id) do update set code = excluded.code, name = excluded.name,
      name_local = excluded.name_local, timezone = excluded.timezone`.execute(trx)
  await sql`
    insert into cities (id, country_id, region_id, name, name_local, timezone, population, latitude, longitude)
    select (row->>1)::integer, (row->>2)::integer, (row->>3)::integer, row->>4, row->>5, row->>6,
      (row->>7)::integer, (row->>8)::double precision, (row->>9)::double precision
    from jsonb_array_elements(${rows('city')}::jsonb) row
    on conflict (id) do update set region_id = excluded.region_id, name = excluded.name,
      name_local = excluded.name_local, timezone = excluded.timezone, population = excluded.population,
      latitude = excluded.latitude, longitude = excluded.longitude`.execute(trx)
}
