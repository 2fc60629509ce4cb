import pg from 'pg'
import t from 'tap'
import { inParallel, testApp } from '../test/app.ts'

const MAX_DISTANCE_KM = 500
const median = (times: number[]) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0
const time = async (work: () => Promise<unknown>) => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

t.test('a search near a pole finds people on all sides of it', async (t) => {
  const { get, member } = await testApp(t)
  const ana = await member('Ana', { latitude: 89.9, longitude: 0, fields: { maxDistance: MAX_DISTANCE_KM } })
  await member('Beyond the pole', { latitude: 86, longitude: 180 })
  await member('To the west', { latitude: 89, longitude: -90 })
  await member('South of me', { latitude: 85.5, longitude: 0 })
  await member('At the pole', { latitude: 90, longitude: 77 })
  await member('Too far', { latitude: 85.2, longitude: 180 })
  const { data: { profiles, remaining } } = await get(ana.id, '/fitmatch/discover')
  t.strictSame(
    profiles.map(({ displayName, distance }: { displayName: string, distance: number }) => [displayName, distance]),
    [['At the pole', 11], ['To the west', 112], ['Beyond the pole', 456], ['South of me', 489]]
  )
  t.equal(remaining, 0)
})

t.test('the widest search near a pole costs about as much as elsewhere', async (t) => {
  const { get, member, db } = await testApp(t)
  const ana = await member('Ana')
  const searchAt = async (latitude: number, maxDistance: number) => {
    await db.updateTable('profiles').set({ latitude, longitude: 0, max_distance: maxDistance })
      .where('account_id', '=', ana.id).execute()
    return await time(async () => await get(ana.id, '/fitmatch/discover'))
  }
  await searchAt(0, 25)
  const times: Record<'usual' | 'farAway' | 'atThePole', number[]> = { usual: [], farAway: [], atThePole: [] }
  for (let turn = 0; turn < 9; turn++) {
    // In turns, as a machine that is busy for a while delays them alike.
    times.usual.push(await searchAt(0, 25))
    times.farAway.push(await searchAt(4814, MAX_DISTANCE_KM))
    times.atThePole.push(await searchAt(8990, MAX_DISTANCE_KM))
  }
  const [usual, farAway, atThePole] = [median(times.usual), median(times.farAway), median(times.atThePole)]
  t.comment(
    `${usual.toFixed(1)} ms within 25 km, ${farAway.toFixed(1)} ms within 500 km of Munich, ` +
      `${atThePole.toFixed(1)} ms at the pole`
  )
  t.ok(atThePole < 4 * usual + 20, 'at most a few times a typical search')
  t.ok(farAway < 4 * usual + 20)
})

t.test('concurrent searches of one account use one connection, so others are served', async (t) => {
  const { get, member, url } = await testApp(t)
  const [ana, ben] = [
    await member('Ana', { latitude: 89.9, longitude: 0, fields: { maxDistance: MAX_DISTANCE_KM } }),
    await member('Ben')
  ]
  await get(ben.id, '/fitmatch/setup-draft')
  // While the table is locked, searches do not finish.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin; lock table profiles in access exclusive mode')
  const searches = inParallel(12, async () => await get(ana.id, '/fitmatch/discover'))
  const others = await inParallel(8, async () => await get(ben.id, '/fitmatch/setup-draft'))
  t.strictSame(others.map(({ status }) => status), Array(8).fill(200))
  await client.query('rollback')

  const responses = await searches
  const statuses = Object.groupBy(responses, ({ status }) => status)
  t.strictSame([statuses[200]?.length, statuses[429]?.length], [4, 8], 'one search runs and three wait')
  t.match(statuses[429]?.[0], { success: false, code: 'RATE_LIMITED', headers: { 'retry-after': '1' } })
  t.match(await get(ana.id, '/fitmatch/discover'), { status: 200 })
})
