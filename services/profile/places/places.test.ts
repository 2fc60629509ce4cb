import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { testDatabase } from '@tandem/database-kit/testing'
import { silentLog } from '@tandem/http-kit/testing'
import { Degraded } from '@tandem/process-kit'
import { until } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'
import type { Db, Tables } from '../tables.ts'
import { createResponseCache } from './response-cache.ts'
import { checkPlaces, findCountry, listCities, listCountries, listRegions, readEdition } from './queries.ts'
import { loadPlaces, startLoadingPlaces } from './seed.ts'

const { app, db } = await testApp(t)
const list = async (query: string) => {
  const response = await app.inject(`/locations?${query}`)
  return { status: response.statusCode, ...response.json() }
}
const names = (answer: { data: { name: string }[] }) => answer.data.map(({ name }) => name)

t.test('countries are sorted with Indonesia first, then A to Z', async (t) => {
  const answer = await list('type=countries')
  t.same(names(answer), ['Indonesia', 'Austria', 'Monaco'])
  t.same(answer.data[0], {
    id: '102',
    code: 'ID',
    name: 'Indonesia',
    flag: '🇮🇩',
    currency: 'IDR',
    defaultTimezone: 'Asia/Jakarta'
  })
})

t.test('regions are listed by country id or code; a country may have none', async (t) => {
  t.same(names(await list('type=regions&countryId=102')), ['Bali', 'Jakarta'])
  t.same((await list('type=regions&countryCode=at')).data, [{
    id: '12',
    code: '9',
    name: 'Vienna',
    nameLocal: 'Wien',
    timezone: 'Europe/Vienna'
  }])
  t.same((await list('type=regions&countryId=3')).data, [])
})

t.test('cities are sorted by size, then A to Z', async (t) => {
  t.same(names(await list('type=cities&countryId=102')), ['Jakarta', 'Denpasar', 'Amlapura', 'Bangli'])
  t.same(names(await list('type=cities&countryCode=ID')), ['Jakarta', 'Denpasar', 'Amlapura', 'Bangli'])
  const bali = await list('type=cities&regionId=10')
  t.same(names(bali), ['Denpasar', 'Amlapura', 'Bangli'])
  t.same(bali.data[0], { id: '100', name: 'Denpasar', nameLocal: null, timezone: 'Asia/Makassar', regionId: '10' })
  t.same(names(await list('type=cities&countryId=102&regionId=10')), ['Denpasar', 'Amlapura', 'Bangli'])
  t.same(
    names(await list('type=cities&countryId=&countryCode=&regionId=10')),
    ['Denpasar', 'Amlapura', 'Bangli'],
    'an empty value is the same as an omitted one'
  )
  t.same(names(await list('type=cities&countryCode=ID&regionId=')), ['Jakarta', 'Denpasar', 'Amlapura', 'Bangli'])
})

t.test('unknown ids are 404, missing parameters are rejected', async (t) => {
  for (
    const query of [
      'type=regions&countryId=999',
      'type=regions&countryCode=XX',
      'type=cities&countryId=garbage',
      'type=cities&regionId=999',
      'type=cities&countryId=99999999999999',
      'type=cities&countryId=1&regionId=10',
      'type=cities&countryId=999&regionId=10',
      'type=cities&countryId=1&regionId=999'
    ]
  ) {
    t.match(await list(query), { status: 404, code: 'NOT_FOUND' }, query)
  }
  for (
    const query of [
      'type=regions',
      'type=cities',
      'type=planets',
      '',
      'type=regions&countryCode=IDN',
      'type=regions&regionId=10',
      'type=regions&countryId=',
      'type='
    ]
  ) {
    t.match(await list(query), { status: 400, code: 'VALIDATION_ERROR' }, query)
  }
})

t.test('a matching ETag gets 304', async (t) => {
  const first = await app.inject('/locations?type=countries')
  t.match(first.headers, { etag: /^"[\w-]+"$/, 'cache-control': /max-age/ })
  const again = await app.inject({
    url: '/locations?type=countries',
    headers: { 'if-none-match': String(first.headers.etag) }
  })
  t.equal(again.statusCode, 304)
  t.equal(again.body, '')
  for (const names of [`W/${first.headers.etag}`, `"other", W/${first.headers.etag}`]) {
    t.equal(
      (await app.inject({ url: '/locations?type=countries', headers: { 'if-none-match': names } })).statusCode,
      304,
      'also after a proxy compressed the response'
    )
  }
  t.equal(
    (await app.inject({
      url: '/locations?type=cities&countryId=1',
      headers: { 'if-none-match': String(first.headers.etag) }
    })).statusCode,
    200
  )
})

t.test('a list is compressed if the client accepts gzip', async (t) => {
  const url = '/locations?type=cities&countryId=102'
  const get = async (headers: object) => await app.inject({ url, headers: { ...headers } })
  const plain = await get({})
  t.match(plain.headers, { 'vary': 'accept-encoding', 'content-encoding': undefined })
  for (const accepted of ['gzip', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'deflate, GZIP']) {
    const { headers, rawPayload } = await get({ 'accept-encoding': accepted })
    t.match(headers, {
      'content-encoding': 'gzip',
      'content-type': /^application\/json/,
      'vary': 'accept-encoding',
      'content-length': String(rawPayload.length)
    }, accepted)
    t.equal(gunzipSync(rawPayload).toString(), plain.body)
    t.not(headers.etag, plain.headers.etag, 'the compressed response has another ETag')
    t.equal((await get({ 'accept-encoding': accepted, 'if-none-match': headers.etag })).statusCode, 304)
    t.equal((await get({ 'if-none-match': headers.etag })).statusCode, 304)
  }
  for (const encoding of ['br', 'identity', 'gzip;q=0', 'gzip; q=0.000', 'xgzip']) {
    t.match(await get({ 'accept-encoding': encoding }), {
      body: plain.body,
      headers: { 'content-encoding': undefined }
    }, encoding)
  }
  t.match((await app.inject({ url: '/locations?type=planets', headers: { 'accept-encoding': 'gzip' } })).json(), {
    code: 'VALIDATION_ERROR'
  })
})

t.test('while the places are being loaded the response is 503 instead of an empty list', async (t) => {
  const { app, db, givenPerson, post } = await testApp(t)
  const ana = await givenPerson()
  await db.deleteFrom('places_editions').execute()
  for (
    const query of [
      'type=countries',
      'type=regions&countryId=102',
      'type=cities&countryId=102',
      'type=cities&regionId=10',
      'type=cities&countryId=999'
    ]
  ) {
    const response = await app.inject(`/locations?${query}`)
    t.match(response.json(), { success: false, code: 'SERVICE_UNAVAILABLE', error: String }, query)
    t.match([response.statusCode, response.headers['retry-after'], response.headers['cache-control']], [
      503,
      '1',
      undefined
    ])
  }
  t.match(await post(ana, '/onboarding/save-profile', { countryId: '102', cityId: '100' }), {
    status: 503,
    code: 'SERVICE_UNAVAILABLE'
  })
  t.equal(
    (await post(ana, '/onboarding/save-profile', { bio: 'Runs' })).status,
    200,
    'requests without a place still work'
  )
  await db.insertInto('places_editions').values({ edition: 'small' }).execute()
  t.equal((await app.inject('/locations?type=countries')).json().data.length, 3)
})

t.test('the cache is cleared with a new edition, and errors are not cached', async (t) => {
  await db.insertInto('places_editions').values({ edition: 'first' }).execute()
  const read = async () => names(await list('type=regions&countryId=102'))
  t.same(await read(), ['Bali', 'Jakarta'])
  await db.updateTable('regions').set({ name: 'Java' }).where('id', '=', 11).execute()
  t.same(await read(), ['Bali', 'Jakarta'], 'it is served from the cache')
  await db.insertInto('places_editions').values({ edition: 'second' }).execute()
  t.same(await read(), ['Bali', 'Java'])

  const cached = createResponseCache()
  let times = 0
  const fail = async (): Promise<object[]> => {
    throw new Error(`fail ${++times}`)
  }
  await t.rejects(cached('first', 'x', fail), { message: 'fail 1' })
  await t.rejects(cached('first', 'x', fail), { message: 'fail 2' })
  const count = async () => [{ times: ++times }]
  t.same(
    new Set((await Promise.all([1, 2, 3].map(async () => await cached('first', 'x', count)))).map(String)),
    new Set(['{"success":true,"data":[{"times":3}]}'])
  )
})

t.test('errors have no cache headers', async (t) => {
  const { headers } = await app.inject('/locations?type=regions&countryId=999')
  t.same([headers.etag, headers['cache-control']], [undefined, undefined])
})

/** A file of `count` cities of one country, as `build-seed.ts` writes it. */
async function givenFile (t: Test, count: number) {
  const lines = [
    ['edition', 'test'],
    ['country', 1, 'AT', 'Austria', '🇦🇹', 'EUR', 'Europe/Vienna'],
    ...Array.from(
      { length: count },
      (_, number) => ['city', number, 1, null, `City ${number}`, null, 'Europe/Vienna', 0, 48.2, 16.37]
    )
  ]
  const file = path.join(t.testdir(), 'places.ndjson.br')
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  await writeFile(file, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }))
  return file
}

async function countCities (db: Db) {
  const { count } = await db.selectFrom('cities').select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

t.test('a load that was interrupted continues where it ended, and its progress is a health check', async (t) => {
  const { db } = await testDatabase<Tables>(t, new URL('..', import.meta.url).pathname)
  const file = await givenFile(t, 6_000)
  await t.rejects(checkPlaces(db), new Degraded('loading places, 0 %'))
  // As a process that is killed, or a statement that takes too long.
  await sql`create function fail() returns trigger language plpgsql as $$ begin
    if new.id >= 4100 then raise exception 'too slow' using errcode = '57014'; end if; return new; end $$`.execute(db)
  await sql`create trigger fail before insert on cities for each row execute function fail()`.execute(db)
  await t.rejects(loadPlaces(db, { file }), { code: '57014' })
  t.equal(await countCities(db), 3_999, 'two batches, with the country')
  await t.rejects(checkPlaces(db), { message: /^loading places, \d+ %$/ })
  await t.rejects(readEdition(db), { code: 'SERVICE_UNAVAILABLE' })

  await sql`drop trigger fail on cities`.execute(db)
  await sql`create or replace function fail() returns trigger language plpgsql as $$ begin
    if new.id < 3999 then raise exception 'a second time'; end if; return new; end $$`.execute(db)
  await sql`create trigger fail before insert on cities for each row execute function fail()`.execute(db)
  await loadPlaces(db, { file })
  t.equal(await countCities(db), 6_000)
  await checkPlaces(db)
  t.equal(await readEdition(db), 'test')
})

t.test('a load is retried in the background until it succeeds, or until the process stops', async (t) => {
  const { db } = await testDatabase<Tables>(t, new URL('..', import.meta.url).pathname)
  const file = await givenFile(t, 10)
  await sql`alter table places_loads rename to elsewhere`.execute(db)
  const stop = startLoadingPlaces(db, silentLog, file)
  await stop()
  const stopLater = startLoadingPlaces(db, silentLog, file)
  t.teardown(stopLater)
  await sql`alter table elsewhere rename to places_loads`.execute(db)
  await until(async () => await countCities(db) === 10)
})

t.test('the places are loaded once, by the first process', async (t) => {
  const { db } = await testDatabase<Tables>(t, new URL('..', import.meta.url).pathname)
  await Promise.all([loadPlaces(db), loadPlaces(db)])
  await loadPlaces(db)
  const countries = await listCountries(db)
  t.ok(countries.length > 240)
  t.equal(countries[0]?.name, 'Indonesia')
  t.ok(await countCities(db) > 150_000)
  t.same(
    await db.selectFrom('cities').leftJoin('regions', 'regions.id', 'region_id')
      .leftJoin('countries', 'countries.id', 'cities.country_id')
      .where((eb) =>
        eb.or([
          eb('countries.id', 'is', null),
          eb('regions.country_id', '<>', eb.ref('cities.country_id')),
          eb.and([eb('region_id', 'is not', null), eb('regions.id', 'is', null)])
        ])
      )
      .select('cities.id').execute(),
    [],
    'every city is in a country and a region that exist'
  )
  const cities = await listCities(db, { countryId: Number(countries[0]?.id) })
  t.ok(cities.length > 500)
  t.ok(cities.findIndex(({ name }) => name === 'Surabaya') < 10, 'large cities come first')
  t.same([...new Set(cities.map(({ timezone }) => timezone))].sort(), [
    'Asia/Jakarta',
    'Asia/Jayapura',
    'Asia/Makassar',
    'Asia/Pontianak'
  ])
  for (const code of ['MO', 'GI', 'CW']) {
    const { id } = await findCountry(db, { code }) ?? { id: 0 }
    t.same(await listRegions(db, id), [], `${code} has no regions`)
    t.not((await listCities(db, { countryId: id })).length, 0, 'a country without regions has cities')
  }
  t.equal((await db.selectFrom('places_editions').select('edition').execute()).length, 1)
})
