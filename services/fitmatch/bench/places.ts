import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { connect, migrate } from '@tandem/database-kit'
import { importPlaces } from '../places/import.ts'
import { readSource, searchPlaces } from '../places/queries.ts'
import type { Tables } from '../tables.ts'

// Measures an import of 50,000 places, and searches among a million that are clustered as gyms are: 2,000 cities, the
// largest with 25,000. Creates a schema on the server of DATABASE_URL and drops it afterwards.

const IMPORTED = 50_000
const PLACES = 1_000_000
const CITIES = 2_000
const SEARCHES = 1_000

const server = process.env['DATABASE_URL']
if (!server) {
  console.error('usage: DATABASE_URL=postgres://… node services/fitmatch/bench/places.ts')
  process.exit(2)
}
const schema = `bench_${randomBytes(6).toString('hex')}`
const url = new URL(server)
url.searchParams.set('options', `-c search_path=${schema}`)
const schemaUrl = url.href.replaceAll('+', '%20')
const plainClient = new pg.Client({ connectionString: schemaUrl })
await plainClient.connect()
await plainClient.query(`create schema ${schema}`)
await migrate(schemaUrl, path.resolve(import.meta.dirname, '..'))
const db = connect<Tables>(schemaUrl, { log: { warn () {} } })

const latitudeOf = (city: number) => (city * 7919) % 120 - 60 + (city % 7) / 7
const longitudeOf = (city: number) => (city * 104_729) % 340 - 170 + (city % 11) / 11

async function measureImport () {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-places-'))
  const file = path.join(folder, 'places.geojsonl')
  const lines = Array.from({ length: IMPORTED }, (_, number) =>
    JSON.stringify({
      type: 'Feature',
      id: `node/${number}`,
      geometry: { type: 'Point', coordinates: [longitudeOf(number % CITIES), latitudeOf(number % CITIES)] },
      properties: { leisure: 'fitness_centre', name: `Gym ${number}`, brand: 'McFit' }
    }))
  await writeFile(file, lines.join('\n'))
  const startedAt = performance.now()
  const { places } = await importPlaces(db, file)
  console.log(`import of ${places} places: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  await rm(folder, { recursive: true })
}

async function insertPlaces () {
  await plainClient.query('select setseed(0.5)')
  await plainClient.query(`
    insert into places (id, source, name, name_key, city, latitude, longitude)
    select 'osm:bench/' || n, 'OPENSTREETMAP', name, lower(name), 'City ' || city,
      (city * 7919) % 120 - 60 + (city % 7) / 7.0 + 0.25 * (random() + random() + random() - 1.5),
      (city * 104729) % 340 - 170 + (city % 11) / 11.0 + 0.25 * (random() + random() + random() - 1.5)
    from (select n, floor(${CITIES} * random() ^ 2)::int as city,
        (array['Fitness', 'Gym', 'Studio', 'Yoga', 'Box', 'Club'])[1 + floor(random() * 6)] || ' ' ||
          (array['North', 'South', 'Mitte', 'Park', 'One'])[1 + floor(random() * 5)] || ' ' || floor(random() * 2000) as name
      from generate_series(1, ${PLACES}) n) as placed`)
  await plainClient.query('vacuum analyze places')
}

/** Half of the searches are in the ten largest cities. */
async function measureSearches (title: string, radiusKm: number, queryOf: (number: number) => string) {
  const times: number[] = []
  for (let number = 0; number < SEARCHES; number++) {
    const city = number % 2 ? number % 10 : number % CITIES
    const startedAt = performance.now()
    await searchPlaces(db, {
      query: queryOf(number),
      latitude: latitudeOf(city) + (number % 13) / 100,
      longitude: longitudeOf(city) + (number % 17) / 100,
      radiusKm
    })
    await readSource(db)
    times.push(performance.now() - startedAt)
  }
  times.sort((one, other) => one - other)
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => (times[Math.ceil(SEARCHES * share) - 1] ?? 0).toFixed(1))
  console.log(`${title}: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`)
}

try {
  await measureImport()
  await insertPlaces()
  const { count } = await db.selectFrom('places').select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow()
  console.log(`${count} places`)
  await measureSearches('nearest within 10 km', 10, () => '')
  await measureSearches('nearest within 50 km', 50, () => '')
  await measureSearches('one word, within 50 km', 50, () => 'yoga')
  await measureSearches('two words that few have, within 50 km', 50, (number) => `yoga ${number}`)
  await measureSearches('a word that none has, within 50 km', 50, () => 'nothing')
} finally {
  await plainClient.query(`drop schema ${schema} cascade`)
  await plainClient.end()
  await db.destroy()
}
