import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parquetWriteFile } from 'hyparquet-writer'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { readCommand } from './commands.ts'
import { toPlace } from './fitness.ts'
import { importPlaces } from './import.ts'
import { findPlace, searchPlaces } from './queries.ts'
import { removePlace, restorePlace } from './removals.ts'

const { db, url } = await testApp(t)
const folder = await mkdtemp(path.join(tmpdir(), 'tandem-places-'))
t.teardown(async () => await rm(folder, { recursive: true }))
t.afterEach(async () => {
  await db.deleteFrom('places').execute()
})

const point = (longitude: number, latitude: number) => ({ type: 'Point', coordinates: [longitude, latitude] })
const openStreetMap = (id: string | undefined, tags: object, geometry: object = point(13.4, 52.5)) => ({
  type: 'Feature',
  id,
  geometry,
  properties: tags
})
const gym = (number: number, name = `Gym ${number}`) =>
  openStreetMap(`node/${number}`, { leisure: 'fitness_centre', name })
const write = async (name: string, lines: unknown[]) => {
  const file = path.join(folder, name)
  await writeFile(file, lines.map((line) => typeof line === 'string' ? line : JSON.stringify(line)).join('\n'))
  return file
}
const names = async () => (await db.selectFrom('places').select('name').orderBy('id').execute()).map(({ name }) => name)

t.test('of a file of OpenStreetMap, places to train that have a name and an id are imported', async (t) => {
  const square = [[13, 52], [14, 52], [14, 54], [13, 54], [13, 52]]
  const file = await write('osm.geojsonl', [
    `\x1e${JSON.stringify(gym(1, 'Studio A'))}`,
    openStreetMap('way/2', {
      'leisure': 'sports_centre',
      'name': 'McFIT Mitte',
      'brand': 'McFit',
      'brand:wikidata': 'Q871302',
      'addr:city': 'Berlin'
    }, { type: 'Polygon', coordinates: [square] }),
    openStreetMap('node/3', { amenity: 'restaurant', name: 'No gym' }),
    openStreetMap('node/4', { leisure: 'fitness_centre' }),
    openStreetMap(undefined, { leisure: 'fitness_centre', name: 'Without an id' }),
    openStreetMap('node/5', { leisure: 'fitness_centre', name: 'Nowhere' }, point(200, 0)),
    'no JSON',
    'null',
    openStreetMap('n6', { leisure: 'fitness_centre', name: 'Un\u0000usual' }),
    openStreetMap('partner-7', { leisure: 'fitness_centre', name: 'Of the operator' })
  ])
  t.strictSame(await importPlaces(db, file), { records: 10, places: 4, deleted: 0 })
  t.match(await db.selectFrom('places').selectAll().orderBy('id').execute(), [
    { id: 'osm:n6', name: 'Un usual' },
    { id: 'osm:node/1', source: 'OPENSTREETMAP', name: 'Studio A', city: null, chain_id: null },
    { id: 'osm:way/2', name: 'McFIT Mitte', city: 'Berlin', chain_id: 'mcfit', latitude: 53, longitude: 13.5 },
    { id: 'own:partner-7', source: 'OWN', name: 'Of the operator' }
  ])
})

t.test('GeoParquet of Overture is imported, in groups of rows', async (t) => {
  const filename = path.join(folder, 'overture.parquet')
  const rows = 5_000
  const column = <Value>(value: (row: number) => Value) => Array.from({ length: rows }, (_, row) => value(row))
  parquetWriteFile({
    filename,
    rowGroupSize: 3_000,
    columnData: [
      { name: 'id', data: column((row) => `id-${row}`), type: 'STRING' },
      { name: 'geometry', data: column((row) => point(row / 1_000, 50)), type: 'GEOMETRY' },
      { name: 'names', data: column((row) => ({ primary: `Place ${row}` })), type: 'JSON' },
      { name: 'categories', data: column((row) => ({ primary: row % 2 ? 'gym' : 'bakery' })), type: 'JSON' },
      { name: 'brand', data: column(() => ({ wikidata: 'Q871302' })), type: 'JSON' },
      { name: 'addresses', data: column(() => [{ locality: 'Köln', country: 'DE' }]), type: 'JSON' },
      { name: 'confidence', data: column((row) => row === 1 ? 0.2 : 0.9), type: 'DOUBLE' }
    ]
  })
  t.strictSame(await importPlaces(db, filename), { records: rows, places: rows / 2 - 1, deleted: 0 })
  t.match(await db.selectFrom('places').selectAll().where('id', '=', 'overture:id-4999').execute(), [{
    source: 'OVERTURE',
    name: 'Place 4999',
    city: 'Köln',
    chain_id: 'mcfit',
    latitude: 50,
    longitude: 4.999
  }])
})

t.test('an import that was stopped goes on where it was', async (t) => {
  const file = await write('long.geojsonl', Array.from({ length: 5_000 }, (_, number) => gym(number)))
  await t.rejects(importPlaces(db, file, {
    onProgress () {
      throw new Error('stopped')
    }
  }))
  t.equal((await names()).length, 2_000)
  const batches: number[] = []
  t.strictSame(await importPlaces(db, file, { onProgress: ({ records }) => batches.push(records) }), {
    records: 5_000,
    places: 5_000,
    deleted: 0
  })
  t.strictSame(batches, [4_000, 5_000])
  t.equal((await names()).length, 5_000)
})

t.test('of two imports of a file at once, one goes on and the other ends', async (t) => {
  const file = await write('once.geojsonl', Array.from({ length: 4_500 }, (_, number) => gym(number)))
  let other: { places: number } | undefined
  const overtaken = importPlaces(db, file, {
    async onProgress () {
      other = await importPlaces(db, file)
    }
  })
  await t.rejects(overtaken, /Another process imports this file/)
  t.equal(other?.places, 4_500)
  t.equal((await names()).length, 4_500)
})

t.test('a place that is imported again is replaced, and those of people are deleted', async (t) => {
  const people = {
    id: 'people:1',
    source: 'PEOPLE' as const,
    name: 'Ours',
    name_key: 'ours',
    latitude: 1,
    longitude: 1
  }
  await db.insertInto('places').values(people).execute()
  const nothing = await write('nothing.geojsonl', ['{"type":"FeatureCollection","features":['])
  t.strictSame(await importPlaces(db, nothing), { records: 1, places: 0, deleted: 0 })
  t.strictSame(await names(), ['Ours'], 'a file without gyms deletes nothing')
  const file = await write('again.geojsonl', [gym(1, 'Old'), gym(1, 'Older')])
  await importPlaces(db, file)
  t.strictSame(await names(), ['Older'])
  await appendFile(file, `\n${JSON.stringify(gym(1, 'New'))}`)
  await importPlaces(db, file)
  t.strictSame(await names(), ['New'])
})

t.test('the places of a source that a newer file lacks are deleted if that is asked for, and no others', async (t) => {
  const overture = {
    id: 'overture:1',
    source: 'OVERTURE' as const,
    name: 'Other',
    name_key: 'other',
    latitude: 1,
    longitude: 1
  }
  await db.insertInto('places').values([overture, { ...overture, id: 'osm:way/9', source: 'OPENSTREETMAP' }]).execute()
  await importPlaces(db, await write('old.geojsonl', [gym(1), gym(2), gym(3)]))
  const newer = await write('newer.geojsonl', Array.from({ length: 2_001 }, (_, number) => gym(number + 2)))
  t.match(await importPlaces(db, newer), { deleted: 0 })
  const isThere = async (...ids: string[]) =>
    (await db.selectFrom('places').where('id', 'in', ids).select('id').orderBy('id').execute()).map(({ id }) => id)
  t.same(await isThere('osm:node/1', 'osm:node/9'), ['osm:node/1', 'osm:node/9'])
  const stopped = importPlaces(db, newer, {
    deletesMissing: true,
    onProgress () {
      throw new Error('stopped')
    }
  })
  await t.rejects(stopped)
  t.same(await isThere('osm:node/1'), ['osm:node/1'], 'a part of a file deletes nothing')
  t.match(await importPlaces(db, newer, { deletesMissing: true }), { places: 2_001, deleted: 2 })
  t.same(await isThere('osm:node/1', 'osm:way/9', 'osm:node/2', 'osm:node/2002', 'overture:1'), [
    'osm:node/2',
    'osm:node/2002',
    'overture:1'
  ])
  const nothing = await write('nothing-at-all.geojsonl', ['{}'])
  t.match(await importPlaces(db, nothing, { deletesMissing: true }), { places: 0, deleted: 0 })
  t.equal((await names()).length, 2_002)
})

t.test('a place that an operator has removed stays away, until they restore it', async (t) => {
  const file = await write('removed.geojsonl', [gym(1, 'Rude'), gym(2, 'Kept')])
  await importPlaces(db, file)
  const search = async () =>
    (await searchPlaces(db, { query: '', latitude: 52.5, longitude: 13.4, radiusKm: 1 }))
      .map(({ name }) => name)
  t.equal(await removePlace(db, 'osm:node/1'), 'Rude')
  t.equal(await removePlace(db, 'osm:node/1'), undefined)
  await importPlaces(db, file, { deletesMissing: true })
  t.same(await search(), ['Kept'])
  t.equal(await findPlace(db, 'osm:node/1'), undefined)
  t.equal(await restorePlace(db, 'osm:node/1'), true)
  t.equal(await restorePlace(db, 'osm:node/2'), false)
  await importPlaces(db, file)
  t.same(await search(), ['Rude', 'Kept'])
})

const run = async (...args: string[]) =>
  await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--max-old-space-size=64', path.join(import.meta.dirname, 'cli.ts'), ...args], {
      env: { ...process.env, DATABASE_URL: url }
    }, (failure, out, error) => {
      resolve(`${failure?.code ?? 0} ${out}${error}`)
    })
  })

t.test('a file whose parts do not fit into the memory of the container is refused', async (t) => {
  const line = await write('one-line.geojsonl', [`[${`${JSON.stringify(gym(1))},`.repeat(150_000)}{}]`])
  t.match(await run('import', line), /^1 A line of the file is longer than 16 MiB: write each feature on a line/)
  const filename = path.join(folder, 'one-group.parquet')
  const data = Array.from({ length: 30_000 }, (_, row) => `${row} ${'outline '.repeat(100)}`)
  parquetWriteFile({ filename, rowGroupSize: 30_000, columnData: [{ name: 'id', data, type: 'STRING' }] })
  t.match(await run('import', filename), /^1 A row group of the file has 2\d MiB, too much for the memory/)
})

t.test('the command reports its progress, and a file without gyms', async (t) => {
  const [usage, wrong, imported] = await Promise.all([
    run(),
    run('import', await write('wrong.geojsonl', ['{}'])),
    run('import', await write('right.geojsonl', [gym(7)]))
  ])
  t.match(usage, /^1 usage, /)
  t.match(wrong, /^1 [^]*None of 1 records is a gym/)
  t.match(imported, /^0 100 %: 1 gyms in 1 records\nImported 1 gyms of 1 records/)

  // The others in this process, which starts none.
  const operate = async (...args: string[]) => await readCommand(args)(db)
  await t.rejects(operate('import', path.join(folder, 'missing')), { code: 'ENOENT' })
  await t.rejects(operate('remove', 'osm:node/7000'), /There is no place osm:node\/7000/)
  t.match(await operate('remove', 'osm:node/7'), 'Removed Gym 7')
  t.match(await operate('restore', 'osm:node/7'), 'The next import')
})

t.test('a place with many positions is in their middle', (t) => {
  const ring = Array.from({ length: 200_000 }, (_, n) => [n / 100_000, 10])
  const place = toPlace(openStreetMap('way/1', { leisure: 'fitness_centre', name: 'Large' }, { coordinates: [ring] }))
  t.match(place, { latitude: 10, longitude: 0.999995 })
  t.end()
})
