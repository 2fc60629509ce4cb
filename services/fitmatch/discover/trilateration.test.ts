import t from 'tap'
import { sql } from 'kysely'
import { roundToGrid } from '../position.ts'
import { createFacts, testApp } from '../test/app.ts'

// An attacker who can move freely and search without limit collects distances, filter results, order and scores, and
// computes positions from them. The result must not be more precise than the grid.
t.test('trilateration does not find a person more precisely than the grid', async (t) => {
  const { get, member, db } = await testApp(t)
  const targets = 100
  const centre = { latitude: -6.2, longitude: 106.8 }
  const kmNorth = 111.19
  const kmEast = kmNorth * Math.cos(centre.latitude * Math.PI / 180)
  const random = (seed: number) => {
    const x = Math.sin(seed * 12.9898) * 43758.5453
    return x - Math.floor(x)
  }

  const victims: { id: string, profileId: string, latitude: number, longitude: number, hides: boolean }[] = []
  for (let turn = 0; turn < targets; turn++) {
    const place = {
      latitude: centre.latitude + 0.2 * (random(turn + 1) - 0.5),
      longitude: centre.longitude + 0.2 * (random(turn + 1000) - 0.5)
    }
    const created = await member(`V${turn}`, { ...createFacts(`V${turn}`), ...place })
    victims.push({ ...created, ...place, hides: turn % 2 === 1 })
  }
  await db.updateTable('profiles').set({ show_distance: false }).where(
    'account_id',
    'in',
    victims.filter(({ hides }) => hides).map(({ id }) => id)
  ).execute()
  const spy = await member('Spy', createFacts('Spy'))
  const stand = async (latitude: number, longitude: number, maxDistance: number) =>
    await db.updateTable('profiles')
      .set({ latitude: roundToGrid(latitude), longitude: roundToGrid(longitude), max_distance: maxDistance }).where(
        'account_id',
        '=',
        spy.id
      ).execute()

  interface Seen {
    id: string
    distance: number | null
    compatibilityScore: number
  }
  const look = async () => {
    const seen: Seen[] = []
    for (;;) {
      const { data } = await get(spy.id, `/fitmatch/discover?limit=50&excludeIds=${seen.map(({ id }) => id).join(',')}`)
      seen.push(...data.profiles)
      if (data.remaining === 0 || data.profiles.length === 0) return seen
    }
  }

  // Everything a response reveals becomes bounds on each victim's distance from the spy.
  const rings = new Map(
    victims.map((
      { profileId }
    ) => [profileId, [] as { latitude: number, longitude: number, low: number, high: number }[]])
  )
  let same = true
  for (let bearing = 0; bearing < 12; bearing++) {
    const angle = bearing * Math.PI / 6
    const from = {
      latitude: centre.latitude + 0.25 * Math.sin(angle),
      longitude: centre.longitude + 0.25 * Math.cos(angle)
    }
    const bounds = new Map(victims.map(({ profileId }) => [profileId, { low: 0, high: 500 }]))
    // Shown distances are whole kilometres, as fine as maxDistance, so a few steps are enough.
    for (const km of [64, 48, 40, 36, 32, 30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 8]) {
      await stand(from.latitude, from.longitude, km)
      const seen = await look()
      if (km === 64) same &&= JSON.stringify(seen) === JSON.stringify(await look())
      const ids = new Set(seen.map(({ id }) => id))
      for (const [id, bound] of bounds) {
        if (ids.has(id)) bound.high = Math.min(bound.high, km)
        else bound.low = Math.max(bound.low, km)
      }
      let nearest = Infinity
      for (const { id, distance, compatibilityScore } of seen.toReversed()) {
        const bound = bounds.get(id)
        if (!bound) continue
        if (distance !== null) {
          bound.low = Math.max(bound.low, distance - 0.5)
          bound.high = Math.min(bound.high, distance + 0.5)
        }
        // All other traits are equal, so the score is 20 for times, 10 for sports, plus the points for distance. For
        // people who hide their distance, neither score nor order depends on it.
        if (distance === null) continue
        bound.low = Math.max(bound.low, km * (1 - (compatibilityScore + 0.5 - 30) / 10))
        bound.high = Math.min(bound.high, km * (1 - (compatibilityScore - 0.5 - 30) / 10), nearest)
        nearest = bound.high
      }
    }
    const stands = { latitude: roundToGrid(from.latitude) / 100, longitude: roundToGrid(from.longitude) / 100 }
    for (const [id, bound] of bounds) rings.get(id)?.push({ ...stands, ...bound })
  }
  t.ok(same, 'the same search returns the same result')

  // The best guess is the centre of all places that violate the bounds least.
  const errorsOf = (some: typeof victims) =>
    some.map(({ profileId, latitude, longitude }) => {
      const measured = rings.get(profileId) ?? []
      let guess = { ...centre }
      for (let step = 0.1; step > 0.0002; step /= 1.6) {
        const around: { latitude: number, longitude: number, cost: number }[] = []
        for (let y = -4; y <= 4; y++) {
          for (let x = -4; x <= 4; x++) {
            const place = { latitude: guess.latitude + y * step / 4, longitude: guess.longitude + x * step / 4 }
            const cost = measured.reduce((sum, ring) => {
              const km = Math.hypot(
                (place.latitude - ring.latitude) * kmNorth,
                (place.longitude - ring.longitude) * kmEast
              )
              return sum + Math.max(0, ring.low - km, km - ring.high) ** 2
            }, 0)
            around.push({ ...place, cost })
          }
        }
        const least = Math.min(...around.map(({ cost }) => cost))
        const best = around.filter(({ cost }) => cost <= least + 1e-9)
        guess = {
          latitude: best.reduce((sum, each) => sum + each.latitude, 0) / best.length,
          longitude: best.reduce((sum, each) => sum + each.longitude, 0) / best.length
        }
      }
      return 1000 * Math.hypot((guess.latitude - latitude) * kmNorth, (guess.longitude - longitude) * kmEast)
    }).sort((one, other) => one - other)
  const quantiles = (errors: number[]) =>
    [0.05, 0.5].map((part) => Math.round(errors[Math.floor(errors.length * part)] ?? 0))
  const [fifth = 0, median = 0] = quantiles(errorsOf(victims.filter(({ hides }) => !hides)))
  t.comment(`shown: median ${median} m, 5th percentile ${fifth} m`)
  t.ok(median < 2_000, 'the attack works: it finds the square')
  t.ok(median >= 300, `the median error is ${median} m`)
  t.ok(fifth >= 80, `the 5th percentile of the error is ${fifth} m`)
  const [fifthHidden = 0, medianHidden = 0] = quantiles(errorsOf(victims.filter(({ hides }) => hides)))
  t.comment(`hidden: median ${medianHidden} m, 5th percentile ${fifthHidden} m`)
  t.ok(medianHidden >= 3_000, `the median error for hidden distances is ${medianHidden} m`)
  t.ok(fifthHidden >= 800, `the 5th percentile of the error for hidden distances is ${fifthHidden} m`)

  // Even the stored position reveals no more than the square.
  const { rows } = await sql<{ fine: number }>`select count(*)::int as fine from information_schema.columns
    where table_schema = current_schema() and table_name = 'profiles' and column_name in ('latitude', 'longitude') and data_type = 'smallint'`
    .execute(db)
  t.equal(rows[0]?.fine, 2)
})
