import t from 'tap'
import type { PlaceSource } from '../tables.ts'
import { testApp } from '../test/app.ts'
import { nameKeyOf } from './names.ts'

const { get, post, put, member, person, db } = await testApp(t)

const [north, east] = [52.52, 13.405]
const givenPlace = async (
  id: string,
  name: string,
  { latitude = north, longitude = east, source = 'OPENSTREETMAP' as PlaceSource, chainId = null as string | null } = {}
) =>
  await db.insertInto('places')
    .values({ id, source, name, name_key: nameKeyOf(name), city: 'Berlin', latitude, longitude, chain_id: chainId })
    .execute()
const search = async (accountId: string, query: string) => await get(accountId, `/venues/search?${query}`)
const idsOf = ({ data }: { data: { venues: { placeId: string }[] } }) => data.venues.map(({ placeId }) => placeId)
const around = `latitude=${north}&longitude=${east}`

t.test('chains are found by name and country', async (t) => {
  const ana = person('Ana')
  const all = await get(ana, '/venues/chains')
  t.equal(all.data.chains.length, 174)
  t.equal(new Set(all.data.chains.map(({ id }: { id: string }) => id)).size, 174)
  t.strictSame((await get(ana, '/venues/chains?query=CLEVER&country=de')).data.chains, [
    { id: 'cleverfit', name: 'Clever fit', countries: ['AT', 'CH', 'DE'] }
  ])
  t.strictSame((await get(ana, '/venues/chains?query=clever&country=US')).data.chains, [])
  t.match((await get(ana, '/venues/chains?query=anytime&country=ID')).data.chains, [{ id: 'anytimefitness' }])
  t.match(await get(ana, '/venues/chains?country=Germany'), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('gyms are found nearest first, by the words of their names, within the radius', async (t) => {
  const ana = person('Ana')
  await givenPlace('osm:node/1', 'Café Körper & Geist', { latitude: north + 0.02 })
  await givenPlace('osm:node/2', 'Clever fit Mitte', { latitude: north + 0.01, chainId: 'cleverfit' })
  await givenPlace('osm:node/3', 'Far away', { latitude: north + 0.2 })
  t.strictSame((await search(ana, around)).data, {
    venues: [
      {
        placeId: 'osm:node/2',
        name: 'Clever fit Mitte',
        city: 'Berlin',
        latitude: north + 0.01,
        longitude: east,
        chainId: 'cleverfit'
      },
      {
        placeId: 'osm:node/1',
        name: 'Café Körper & Geist',
        city: 'Berlin',
        latitude: north + 0.02,
        longitude: east,
        chainId: null
      }
    ],
    source: 'LIBRARY',
    attribution: '© OpenStreetMap contributors'
  })
  t.strictSame(idsOf(await search(ana, `${around}&query=geist%20korper`)), ['osm:node/1'])
  t.strictSame(idsOf(await search(ana, `${around}&radiusKm=50`)), ['osm:node/2', 'osm:node/1', 'osm:node/3'])
  t.strictSame(idsOf(await search(ana, `${around}&radiusKm=1`)), [])
})

t.test('in a dense city the twenty nearest are found, and across the date line too', async (t) => {
  const ana = person('Ana')
  for (let n = 0; n < 30; n++) await givenPlace(`osm:node/x${n}`, 'Dense', { latitude: 10 + n / 10_000, longitude: 10 })
  t.strictSame(
    idsOf(await search(ana, 'latitude=10&longitude=10&radiusKm=50')),
    Array.from({ length: 20 }, (_, n) => `osm:node/x${n}`)
  )
  await givenPlace('osm:node/fiji', 'Fiji', { latitude: -17, longitude: 179.99 })
  t.strictSame(idsOf(await search(ana, 'latitude=-17&longitude=-179.99')), ['osm:node/fiji'])
})

t.test('without a position the search is around the profile, and without a profile it is refused', async (t) => {
  const ana = await member('Ana', { latitude: 10, longitude: 10 })
  t.equal(idsOf(await search(ana.id, 'query=dense')).length, 20)
  t.match(await search(person('Ana'), 'query=dense'), { status: 400, code: 'VALIDATION_ERROR' })
  for (const query of ['latitude=1', 'latitude=91&longitude=0', `${around}&radiusKm=51`, `${around}&radiusKm=0`]) {
    t.match(await search(ana.id, query), { status: 400, code: 'VALIDATION_ERROR' }, query)
  }
})

t.test('a venue of the library has its name and position, and a custom one those of its owner', async (t) => {
  const { id: ana } = await member('Ana')
  const path = '/fitmatch/profile/venues'
  const wrong = { name: 'My name', city: 'Paris', latitude: 1, longitude: 2, chainId: 'fithub' }
  const ofLibrary = {
    name: 'Clever fit Mitte',
    city: 'Berlin',
    latitude: north + 0.01,
    longitude: east,
    chainId: 'cleverfit',
    placeId: 'osm:node/2',
    isCustom: false
  }
  const { data: { venue } } = await post(ana, path, { ...wrong, branch: 'Mitte', placeId: 'osm:node/2' })
  t.match(venue, { ...ofLibrary, branch: 'Mitte' })
  t.match(await post(ana, path, { ...wrong, placeId: 'osm:node/2', isCustom: true }), {
    data: { venue: { ...wrong, placeId: 'osm:node/2', isCustom: true } }
  })
  t.match(await post(ana, path, { ...wrong, placeId: 'of another library' }), {
    data: { venue: { ...wrong, placeId: 'of another library', isCustom: false } }
  })
  t.match(await put(ana, path, { id: venue.id, branch: 'Alexanderplatz' }), {
    data: { venues: [{ ...ofLibrary, branch: 'Alexanderplatz' }, {}, {}] }
  })
  t.match(await put(ana, path, { id: venue.id, name: 'Clever' }), {
    data: { venues: [{ name: 'Clever', isCustom: true }, {}, {}] }
  })
  for (const isCustom of [true, false]) {
    t.match(await post(ana, path, { name: 'Gym', chainId: 'unknown', isCustom }), {
      status: 400,
      code: 'VALIDATION_ERROR',
      details: [{ field: 'chainId' }]
    })
  }
})
