import t, { type Test } from 'tap'
import { sql } from 'kysely'
import { levelOf } from './rules.ts'
import { changeStreaks } from './streaks.ts'
import { dayNumberOf, mondayNumberOf } from '../calendar.ts'
import { examplePerson, testApp, asCounted } from '../test/app.ts'

const { newUser, db, setFakes } = await testApp(t)

/** Seeded random numbers, so that a failure can be reproduced. */
function randomBy (seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return Math.floor(state / 4_294_967_296 * below)
  }
}

const zones = ['Asia/Jakarta', 'America/Los_Angeles', 'Pacific/Auckland']

for (const [seed, days] of [[1, 30], [20, 30], [300, 30], [1, 3], [7, 3]] as const) {
  t.test(`after random writes and deletions all derived data equals its recomputation (seed ${seed}, ${days} days)`, async (t) => {
    const { account, log, send } = newUser({ now: '2027-01-10T12:00:00Z' })
    const random = randomBy(seed)
    const pick = <Thing>(things: Thing[]) => things[random(things.length)] as Thing
    const datas = {
      WORKOUT: () => ({
        durationMinutes: 1 + random(120),
        exercises: Array.from(
          { length: random(3) },
          () => ({
            name: pick(['Squat', 'Bench', 'Row']),
            sets: Array.from({ length: random(3) }, () => ({ reps: 1 + random(5), weightKg: 5 + 5 * random(30) }))
          })
        )
      }),
      FOOD: () => ({ name: 'Nasi', calories: random(9000) / 10, protein: random(500) / 10 }),
      WATER: () => ({ ml: 1 + random(900) }),
      SLEEP: () => ({ minutes: 1 + random(600), quality: 1 + random(5) }),
      WEIGHT: () => ({ kg: 60 + random(20) })
    }
    const item = () => {
      const type = pick(Object.keys(datas) as (keyof typeof datas)[])
      const at = new Date(Date.parse('2026-12-10T00:00:00Z') + random(days * 24 * 4) * 15 * 60_000).toISOString()
      return { clientId: `c${random(60)}`, type, at, data: datas[type]() }
    }

    for (let step = 0; step < 25; step++) {
      if (random(6) === 0) setFakes({ person: examplePerson(pick(zones)) })
      if (random(4) > 0) await log(...Array.from({ length: 1 + random(8) }, item))
      else {
        const ids = await db.selectFrom('logs').where('account_id', '=', account).select('id').orderBy('client_id')
          .execute()
        if (ids.length > 0) await send('DELETE', `/logs/${pick(ids).id}`)
      }
    }
    await compare(t, account)
  })
}

/** Recomputes all derived data from the logs with an algorithm independent of the service. */
async function compare (t: Test, account: string) {
  const logs = await db.selectFrom('logs').where('account_id', '=', account)
    .select(['id', 'type', 'at', sql<string>`day::text`.as('day'), 'timezone', 'data']).orderBy('at').orderBy('id')
    .execute()
  type Data = {
    durationMinutes: number,
    calories: number,
    protein?: number,
    ml: number,
    minutes: number,
    quality: number,
    exercises?: { name: string, sets: { weightKg: number }[] }[]
  }
  const read = logs.map((each) => ({ ...each, data: each.data as unknown as Data }))
  const counting = asCounted(read)

  const heaviest = new Map<string, number>()
  const recordsOf = new Map<string, number>()
  for (const { id, type, data } of counting) {
    if (type !== 'WORKOUT') continue
    const best = new Map<string, number>()
    for (const { name, sets } of data.exercises ?? []) {
      best.set(
        name,
        Math.max(best.get(name) ?? 0, ...sets.map(({ weightKg }) => weightKg))
      )
    }
    for (const [name, kg] of best) {
      if (kg <= (heaviest.get(name) ?? 0)) continue
      heaviest.set(name, kg)
      recordsOf.set(id, (recordsOf.get(id) ?? 0) + 1)
    }
  }

  const days = [...new Set(read.map(({ day }) => day))].sort()
  const summaries = days.map((day) => {
    const of = (type: string) => counting.filter((each) => each.day === day && each.type === type)
    const total = (type: string, figure: (data: Data) => number) =>
      Math.round(of(type).reduce((sum, { data }) => sum + figure(data), 0) * 10) / 10
    const records = of('WORKOUT').reduce((sum, { id }) => sum + (recordsOf.get(id) ?? 0), 0)
    return {
      day,
      workouts: of('WORKOUT').length,
      workout_minutes: total('WORKOUT', ({ durationMinutes }) => durationMinutes),
      food_entries: of('FOOD').length,
      calories: total('FOOD', ({ calories }) => calories),
      protein: total('FOOD', ({ protein }) => protein ?? 0),
      water_entries: of('WATER').length,
      water_ml: total('WATER', ({ ml }) => ml),
      sleep_entries: of('SLEEP').length,
      sleep_minutes: total('SLEEP', ({ minutes }) => minutes),
      sleep_quality: total('SLEEP', ({ quality }) => quality),
      weight_entries: of('WEIGHT').length,
      records,
      xp: of('WORKOUT').length * 50 + total('WORKOUT', ({ durationMinutes }) => Math.min(60, durationMinutes)) +
        5 * Math.min(6, of('FOOD').length) + 2 * Math.min(8, of('WATER').length) +
        10 * Math.min(1, of('SLEEP').length) + 25 * records
    }
  })
  t.same(
    await db.selectFrom('daily_summaries').where('account_id', '=', account)
      .select([
        sql<string>`day::text`.as('day'),
        'workouts',
        'workout_minutes',
        'food_entries',
        sql<number>`calories::float8`.as('calories'),
        sql<number>`protein::float8`.as('protein'),
        'water_entries',
        'water_ml',
        'sleep_entries',
        'sleep_minutes',
        'sleep_quality',
        'weight_entries',
        'records',
        'xp'
      ])
      .orderBy('day').execute(),
    summaries,
    'summaries'
  )

  const sum = (figure: 'xp' | 'workouts' | 'workout_minutes' | 'food_entries' | 'records') =>
    summaries.reduce((total, summary) => total + summary[figure], 0)
  const totals = await db.selectFrom('totals').where('account_id', '=', account).select([
    'xp',
    'workouts',
    'workout_minutes',
    'food_entries',
    'records',
    'highest_level'
  ]).executeTakeFirstOrThrow()
  t.match(totals, {
    xp: sum('xp'),
    workouts: sum('workouts'),
    workout_minutes: sum('workout_minutes'),
    food_entries: sum('food_entries'),
    records: sum('records')
  }, 'totals')
  t.ok(totals.highest_level >= levelOf(totals.xp))

  const streaks = async (
    kind: 'DAY' | 'WATER' | 'WEEK'
  ) => (await db.selectFrom('streaks').where('account_id', '=', account).where('kind', '=', kind)
    .select([
      sql<number>`first_day - date '1970-01-01'`.as('first'),
      sql<number>`last_day - date '1970-01-01'`.as('last')
    ]).orderBy('first_day').execute())
  const expected = (numbers: number[], step: number) =>
    changeStreaks([], new Map(numbers.map((number) => [number, true])), step)
  // From Los Angeles to the two other zones the clock moves by more than half a day: the day between never was.
  const withMissing = (logs: typeof read) => {
    const numbers = new Set(logs.map(({ day }) => dayNumberOf(day)))
    const isIn = (number: number, zones: string[]) =>
      logs.some(({ day, timezone }) => dayNumberOf(day) === number && zones.includes(timezone))
    const missing = [...numbers].map((number) => number + 1).filter((number) =>
      !numbers.has(number) && isIn(number - 1, [zones[1]!]) && isIn(number + 1, [zones[0]!, zones[2]!])
    )
    return [...numbers, ...missing]
  }
  t.same(await streaks('DAY'), expected(withMissing(read), 1), 'day streaks')
  t.same(
    await streaks('WATER'),
    expected(withMissing(read.filter(({ type }) => type === 'WATER')), 1),
    'water streaks'
  )
  t.same(
    await streaks('WEEK'),
    expected(summaries.filter((each) => each.workouts > 0).map(({ day }) => mondayNumberOf(dayNumberOf(day))), 7),
    'week streaks'
  )
}
