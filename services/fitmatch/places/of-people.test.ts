import t from 'tap'
import { sql } from 'kysely'
import { testApp } from '../test/app.ts'
import { updatePlacesOfPeople } from './of-people.ts'
import { removePlace, restorePlace } from './removals.ts'

const { get, post, put, del, member, db } = await testApp(t)

const metre = 1 / 111_190
const path = '/fitmatch/profile/venues'
const rest = async () => {
  await db.updateTable('venues').set({ changed_at: sql`now() - interval '1 day'` }).execute()
}
/** A person with a venue, at a distance from the middle of the test's own city. */
const givenVenue = async (
  name: string,
  latitude: number,
  { north = 0, east = 0, ...more }: { north?: number, east?: number, chainId?: string, city?: string } = {}
) => {
  const { id, profileId } = await member('Someone')
  const venue = { name, latitude: latitude + north * metre, longitude: 10.004 + east * metre, isCustom: true, ...more }
  const { data } = await post(id, path, venue)
  return { id, profileId, venueId: data.venue.id as string }
}
const update = async () => {
  await rest()
  await updatePlacesOfPeople(db)
}
const searcher = await member('Searcher')
const search = async (latitude: number) =>
  (await get(searcher.id, `/venues/search?latitude=${latitude}&longitude=10`)).data

t.test('a gym that three people have added is found, at a rounded position', async (t) => {
  await givenVenue('Iron Temple', 1.004)
  await givenVenue('iron-temple', 1.004, { north: 90 })
  t.strictSame(await search(1), { venues: [], source: 'PEOPLE', attribution: null })
  await update()
  t.strictSame((await search(1)).venues, [], 'two are not enough')
  const third = await givenVenue('Iron  Temple', 1.004, { east: 90, chainId: 'fithub', city: 'Jakarta' })
  await updatePlacesOfPeople(db)
  t.strictSame((await search(1)).venues, [], 'a venue counts a day after it was added')
  await update()
  const { venues: [gym], ...rest } = await search(1)
  t.match(gym, { placeId: /^people:/, latitude: 1, longitude: 10, city: 'Jakarta', chainId: 'fithub' })
  t.match(gym.name, /^iron[ -]+temple$/i)
  t.strictSame(rest, { source: 'PEOPLE', attribution: null })

  await put(third.id, path, { id: third.venueId, latitude: 40, longitude: 40 })
  await updatePlacesOfPeople(db)
  t.strictSame((await search(1)).venues, [], 'without the third it is gone')
})

t.test('other names, other places, one person twice and hidden people do not make a gym', async (t) => {
  const { id } = await givenVenue('Club', 2.004)
  for (let n = 0; n < 3; n++) {
    await post(id, path, { name: 'Club', latitude: 2.004, longitude: 10.004, isCustom: true })
  }
  await givenVenue('Club', 2.004, { north: 400 })
  await givenVenue('Other club', 2.004)
  const paused = await givenVenue('Club', 2.004)
  await db.updateTable('profiles').set({ paused: true }).where('account_id', '=', paused.id).execute()
  await givenVenue('Club', 2.004)
  await update()
  t.strictSame((await search(2)).venues, [])
  await db.updateTable('profiles').set({ paused: false }).where('account_id', '=', paused.id).execute()
  await update()
  t.match((await search(2)).venues, [{ name: 'Club' }])
})

t.test('people who choose it share it, and keep it when those who wrote it are gone', async (t) => {
  const authors = [await givenVenue('Dojo', 3.004), await givenVenue('Dojo', 3.004), await givenVenue('Dojo', 3.004)]
  await update()
  const { venues: [dojo] } = await search(3)
  const chosen = []
  for (const name of ['Ana', 'Ben', 'Cleo']) {
    const person = await member(name, { latitude: 3, longitude: 10 })
    const { data } = await post(person.id, path, { name: 'x', placeId: dojo.placeId })
    t.match(data.venue, { name: 'Dojo', latitude: 3, longitude: 10, isCustom: false })
    chosen.push({ ...person, venueId: data.venue.id })
  }
  const [ana, ben] = chosen
  t.match((await get(ana!.id, `/fitmatch/profile/${ben!.profileId}`)).data, {
    sameGym: true,
    sharedVenues: [{ name: 'Dojo' }]
  })
  await del(ana!.id, `${path}?id=${ana!.venueId}`)
  await del(authors[0]!.id, `${path}?id=${authors[0]!.venueId}`)
  await update()
  t.match((await search(3)).venues, [{ placeId: dojo.placeId }], 'two wrote it and two chose it')
  const { data: again } = await post(ana!.id, path, { name: 'x', placeId: dojo.placeId })
  for (const { id, venueId } of authors.slice(1)) await del(id, `${path}?id=${venueId}`)
  await update()
  t.match((await search(3)).venues, [{ placeId: dojo.placeId }])
  await del(ana!.id, `${path}?id=${again.venue.id}`)
  await update()
  t.strictSame((await search(3)).venues, [])
})

t.test('nobody counts as a person at a place by its id alone, nor on the day of their choice', async (t) => {
  const authors = [await givenVenue('Spa', 5.004), await givenVenue('Spa', 5.004), await givenVenue('Spa', 5.004)]
  await update()
  const [{ placeId }] = (await search(5)).venues
  const choose = async () => {
    const { id } = await member('Ana', { latitude: 5, longitude: 10 })
    return (await post(id, path, { name: 'Spa', latitude: 40, longitude: 40, placeId })).data.venue
  }
  t.match(await choose(), { placeId })
  await del(authors[0]!.id, `${path}?id=${authors[0]!.venueId}`)
  await updatePlacesOfPeople(db)
  t.strictSame((await search(5)).venues, [], 'a choice counts a day after it was made')
  await update()
  t.match((await search(5)).venues, [{ placeId }])

  await del(authors[1]!.id, `${path}?id=${authors[1]!.venueId}`)
  await update()
  t.match(await choose(), { placeId: null, latitude: 40 }, 'a place that is gone cannot be chosen')
  await update()
  t.strictSame((await search(5)).venues, [])
})

t.test('one that an operator has removed does not come back when others add it, until they restore it', async (t) => {
  for (let n = 0; n < 3; n++) await givenVenue('Rude words', 9.004)
  await update()
  const [gym] = (await search(9)).venues
  t.equal(await removePlace(db, gym.placeId), gym.name)
  t.strictSame((await search(9)).venues, [])
  await givenVenue('Rude words', 9.004)
  await update()
  t.strictSame((await search(9)).venues, [])
  t.strictSame(await db.selectFrom('places').where('id', '=', gym.placeId).select(['name', 'name_key']).execute(), [
    { name: '', name_key: '' }
  ], 'its name is erased')
  t.equal(await restorePlace(db, gym.placeId), true)
  await update()
  t.match((await search(9)).venues, [{ placeId: gym.placeId, name: gym.name }])
})

t.test('after an import, venues make no places', async (t) => {
  await db.insertInto('places')
    .values({ id: 'osm:1', source: 'OPENSTREETMAP', name: 'Gym', name_key: 'gym', latitude: 50, longitude: 50 })
    .execute()
  for (let n = 0; n < 3; n++) await givenVenue('Hall', 4.004)
  await update()
  t.match(await search(4), { venues: [], source: 'LIBRARY' })
})
