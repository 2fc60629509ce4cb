import t from 'tap'
import { nameKeyOf } from '../places/names.ts'
import { testApp, type Member } from '../test/app.ts'

const { get, post, put, del, member, db } = await testApp(t)

const venuesPath = '/fitmatch/profile/venues'
const mitte = { name: 'Clever fit Mitte', placeId: 'osm:node/1' }
await db.insertInto('places').values({
  id: mitte.placeId,
  source: 'OPENSTREETMAP',
  name: mitte.name,
  name_key: nameKeyOf(mitte.name),
  city: 'Berlin',
  latitude: 52.52,
  longitude: 13.4,
  chain_id: 'cleverfit'
}).execute()

// Each test uses its own city, out of range of the others.
let cities = 0
const twoPeople = async () => {
  const longitude = 10 * cities++
  const ana = await member('Ana', { latitude: 0, longitude })
  const ben = await member('Ben', { latitude: 0.15, longitude })
  return { ana, ben }
}
const seenBy = async (me: Member, other: Member) => {
  const { data: { profiles } } = await get(me.id, '/fitmatch/discover')
  const found = profiles.find(({ id }: { id: string }) => id === other.profileId)
  const { data } = await get(me.id, `/fitmatch/profile/${other.profileId}`)
  const fields = ({ sameGym, sharedVenues, compatibilityScore, distance }: typeof data) => ({
    sameGym,
    sharedVenues,
    compatibilityScore,
    distance
  })
  t.strictSame(fields(found), fields(data), 'discover and the profile agree')
  return fields(data)
}

t.test('people who share a gym see it, and have all points of the distance', async (t) => {
  const { ana, ben } = await twoPeople()
  const apart = await seenBy(ana, ben)
  t.match(apart, { sameGym: false, sharedVenues: [], distance: 17 })
  await post(ana.id, venuesPath, { ...mitte, branch: 'Alexanderplatz' })
  await post(ben.id, venuesPath, { name: 'Elsewhere', isCustom: true })
  t.strictSame(await seenBy(ana, ben), apart)
  const { data: { venue } } = await post(ben.id, venuesPath, mitte)
  const together = await seenBy(ana, ben)
  t.match(together, { sameGym: true, sharedVenues: [{ name: 'Clever fit Mitte', branch: null }], distance: 17 })
  t.match(await seenBy(ben, ana), { sharedVenues: [{ name: 'Clever fit Mitte', branch: 'Alexanderplatz' }] })
  t.equal(together.compatibilityScore - apart.compatibilityScore, 3, '10 points in place of the 7 for 17 of 50 km')

  await put(ben.id, '/fitmatch/settings', { showDistance: false })
  t.match(await seenBy(ana, ben), { distance: null, compatibilityScore: together.compatibilityScore })
  await del(ben.id, `${venuesPath}?id=${venue.id}`)
  t.match(await seenBy(ana, ben), { sameGym: false, compatibilityScore: apart.compatibilityScore - 7 })
})

t.test('a branch of a chain is the same gym however it is written, in one city only', async (t) => {
  const { ana, ben } = await twoPeople()
  await post(ana.id, venuesPath, { name: 'FTL', chainId: 'ftlgym', branch: 'Kemang', city: 'Jakarta' })
  const add = async (venue: object) => await post(ben.id, venuesPath, { name: 'Other name', ...venue })
  await add({ chainId: 'ftlgym', branch: 'Kemang', city: 'Bandung' })
  await add({ chainId: 'fithub', branch: 'Kemang', city: 'Jakarta' })
  await add({ chainId: 'ftlgym', city: 'Jakarta' })
  await add({ chainId: 'ftlgym', branch: 'Kemang', city: 'Jakarta', isCustom: true })
  t.match(await seenBy(ana, ben), { sameGym: false, sharedVenues: [] })
  await add({ chainId: 'ftlgym', branch: 'KEMANG', city: 'jakarta' })
  t.match(await seenBy(ana, ben), { sameGym: true, sharedVenues: [{ name: 'Other name', branch: 'KEMANG' }] })
})

t.test('what somebody wrote themselves is no gym that others share', async (t) => {
  const { ana, ben } = await twoPeople()
  for (const { id } of [ana, ben]) {
    await post(id, venuesPath, { ...mitte, isCustom: true })
    await post(id, venuesPath, { name: 'Park', latitude: 1, longitude: 1 })
  }
  t.match(await seenBy(ana, ben), { sameGym: false, sharedVenues: [] })
})
