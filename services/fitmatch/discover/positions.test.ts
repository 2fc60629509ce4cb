import { sql } from 'kysely'
import t from 'tap'
import { FitMatchOverview } from '@tandem/contracts'
import { createFacts, testApp, type Member } from '../test/app.ts'

// Observers read every endpoint from many places, while the victim stands at one place and then at another. If all
// responses are identical, no computation can tell the two places apart.

interface Place {
  latitude: number
  longitude: number
}

const anchors = [[0, 0], [0.02, 0.01], [0.1, -0.05], [-0.3, 0.2], [-0.09, -0.09]] as const
const distances = [8, 15, 50]
const measuring = [
  '/fitmatch/discover',
  '/fitmatch/discover?limit=1',
  '/fitmatch/profile/{profileId}',
  '/fitmatch/likes'
]

t.test('no response reveals a position more precisely than promised', async (t) => {
  const { app, db, get, put, post, member, createMatch, swipe, subscribe, rpcHandlers } = await testApp(t)
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, object> }
  const others = Object.entries(paths).filter(([path, operations]) =>
    'get' in operations && path.startsWith('/fitmatch/') && !path.includes('/admin/')
  ).map(([path]) => path)

  const middle = { latitude: -6.2, longitude: 106.8 }
  const victim = await member('Victim', createFacts('Victim', middle))
  const spies: (Member & { matchId: string })[] = []
  for (const name of ['Unknown', 'Liked', 'Matched']) {
    const spy = await member(name, createFacts(name, middle))
    await subscribe(spy.id)
    spies.push({ ...spy, matchId: name === 'Matched' ? await createMatch(spy, victim) : crypto.randomUUID() })
    if (name === 'Liked') await swipe(victim, spy)
  }
  for (const { id, matchId } of spies) {
    await post(victim.id, `/fitmatch/chat/${matchId}/messages`, { content: 'Hi' })
    await get(id, `/fitmatch/chat/${matchId}`)
  }
  // Other people around the victim, so that the order of results could reveal something.
  for (const [name, north] of [['Near', 0.01], ['Farther', 0.15]] as const) {
    await member(name, createFacts(name, { ...middle, latitude: middle.latitude + north }))
  }
  await db.updateTable('profiles').set({ show_online_status: false, show_last_active: false }).execute()

  async function readAll () {
    const seen: unknown[] = []
    for (const [north, east] of anchors) {
      for (const maxDistance of distances) {
        await db.updateTable('profiles')
          .set({
            latitude: Math.round((middle.latitude + north) * 100),
            longitude: Math.round((middle.longitude + east) * 100),
            max_distance: maxDistance
          })
          .where('account_id', 'in', spies.map(({ id }) => id)).execute()
        for (const { id, matchId } of spies) {
          for (const path of maxDistance === 15 && north === 0 ? [...others, ...measuring] : measuring) {
            const { status, data } = await get(
              id,
              path.replace('{profileId}', victim.profileId).replace('{matchId}', matchId)
            )
            seen.push({ north, east, maxDistance, path, status, data })
          }
          seen.push(await rpcHandlers.find(({ rpc }) => rpc === FitMatchOverview)?.handle({ accountId: id }))
        }
      }
    }
    return seen
  }
  async function seenFrom (place: Place) {
    t.match(await put(victim.id, '/fitmatch/profile', place), { status: 200 })
    return await readAll()
  }
  const count = (seen: unknown[], path: string) =>
    seen.filter((each) => (each as { path?: string }).path === path).length

  t.test('hidden distance: two places 14 km apart within one 11 km area look identical in every response', async (t) => {
    t.match(await put(victim.id, '/fitmatch/settings', { showDistance: false }), { status: 200 })
    const seen = await seenFrom({ latitude: -6.2, longitude: 106.78 })
    t.ok(
      count(seen, '/fitmatch/matches') > 0 && count(seen, '/fitmatch/profile/{profileId}') > 40,
      'every endpoint was read'
    )
    t.strictSame(await seenFrom({ latitude: -6.11, longitude: 106.87 }), seen)
    t.notSame(
      await seenFrom({ latitude: -6.21, longitude: 106.78 }),
      seen,
      'the observers can distinguish the next area'
    )
  })

  t.test('shown distance: two places 1.5 km apart within one square of 0.01° look identical in every response', async (t) => {
    t.match(await put(victim.id, '/fitmatch/settings', { showDistance: true }), { status: 200 })
    const seen = await seenFrom({ latitude: -6.2049, longitude: 106.7951 })
    t.strictSame(await seenFrom({ latitude: -6.1951, longitude: 106.8049 }), seen)
    t.notSame(
      await seenFrom({ latitude: -6.2151, longitude: 106.7951 }),
      seen,
      'the observers can distinguish the next square'
    )
  })
})

t.test('the area of a person who hides their distance is at least 11 km wide and high everywhere', async (t) => {
  const { db, member } = await testApp(t)
  const { id } = await member('Ana')
  const areaOf = async (latitude: number, longitude: number) =>
    await db.updateTable('profiles').set({ latitude, longitude, show_distance: false })
      .where('account_id', '=', id).returning(['public_latitude as latitude', 'public_longitude as longitude'])
      .executeTakeFirstOrThrow()
  for (const latitude of [-9000, -8995, -6000, -621, 0, 4, 4814, 7822, 8889, 8990, 9000]) {
    const { latitude: middle } = await areaOf(latitude, 0)
    t.ok(middle !== null && Math.abs(middle - latitude) <= 5, `${latitude} is in the area around ${middle}`)
    const kmAround = 40_030 * Math.cos((middle ?? 0) / 100 * Math.PI / 180)
    const { rows: middles } = await sql<{ longitude: number }>`
      select distinct area_longitude(${latitude}::integer, longitude) as longitude
      from generate_series(-18000, 18000, 100) as longitude order by 1`.execute(db)
    t.equal((await areaOf(latitude, -18000)).longitude, middles[0]?.longitude, 'as the profile shows it')
    const sorted = middles.map(({ longitude }) => longitude)
    t.ok(sorted.every((each) => each >= -18000 && each < 18000))
    const widths = sorted.map((each, index) => (sorted[index + 1] ?? (sorted[0] ?? 0) + 36_000) - each)
    const narrowest = Math.min(...widths) / 36_000 * kmAround
    t.ok(narrowest > 11 || middles.length === 1, `at ${latitude} the areas are ${narrowest.toFixed(1)} km wide`)
  }
  t.same(await areaOf(4814, -18000), await areaOf(4814, 18000), 'both sides of the date line are the same place')
})
