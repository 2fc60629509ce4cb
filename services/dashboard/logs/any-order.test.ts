import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { sql } from 'kysely'
import { randomOfItsOwn, seededRandom, shuffle } from '@tandem/test-kit'
import { readTandem } from '../imports/formats/tandem.ts'
import { testApp } from '../test/app.ts'
import { writeLogs } from './actions.ts'
import { isDeleted, isRejected, parseItem } from './items.ts'

// The whole proof takes about half an hour:
// TEST_TIMEOUT_MS=7200000 ANY_ORDER_WORLDS=2000 ANY_ORDER_ORDERS=20 npm test -- services/dashboard/logs/any-order.test.ts
const WORLDS = Number(process.env['ANY_ORDER_WORLDS'] ?? 40)
const ORDERS = Number(process.env['ANY_ORDER_ORDERS'] ?? 5)
const NOW = new Date('2026-11-25T00:00:00Z')
const START_MS = Date.parse('2026-11-20T00:00:00Z')
const MINUTE_MS = 60_000

const { db, deps } = await testApp(t)

type Random = () => number
const below = (random: Random, limit: number) => Math.floor(random() * limit)
const pick = <Thing>(random: Random, things: readonly Thing[]) => things[below(random, things.length)] as Thing
const timeAt = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString()

const sources = [
  { platform: 'HEALTHKIT', kind: 'WATCH', device: 'Watch' },
  { platform: 'HEALTH_CONNECT', kind: 'PHONE' },
  { platform: 'MANUAL' }
]
const zones = ['Asia/Jakarta', 'America/Los_Angeles', 'Pacific/Auckland', 'Etc/UTC']

/** Every version of every log of the sources: edits, deletions, journeys, and repeats of all of them. */
function createWorld (random: Random) {
  const logs = sources.flatMap((source) =>
    Array.from({ length: 1 + below(random, 6) }, (_, id) => ({ source, id: `e${id}` }))
  )
  const versions = logs.flatMap(({ source, id }) =>
    Array.from({ length: 1 + below(random, 3) }, (_, version) => ({
      source,
      externalId: id,
      modifiedAt: timeAt(6_000 + below(random, 4) + version),
      ...(random() < 0.2 ? { deleted: true } : createLog(random))
    }))
  )
  const final = random() < 0.2 ? [{ source: pick(random, sources), externalId: 'e0', deleted: true }] : []
  return [...versions, ...versions.filter(() => random() < 0.3), ...final]
}

function createLog (random: Random) {
  const [type, data] = pick(random, kinds)(random)
  const start = 900 + 15 * below(random, 40)
  return {
    type,
    data,
    startAt: timeAt(start),
    endAt: timeAt(start + 5 + 10 * below(random, 12)),
    timezone: pick(random, zones)
  }
}

const kinds: ((random: Random) => [string, object])[] = [
  (random) => ['WORKOUT', { title: pick(random, ['Run', 'Legs']), calories: below(random, 500) }],
  (random) => ['WORKOUT', { sport: pick(random, ['running', 'strength']), exercises: squats(random) }],
  (random) => ['WORKOUT', { exercises: squats(random) }],
  (random) => ['SLEEP', random() < 0.5 ? {} : { quality: 1 + below(random, 5) }],
  (random) => ['STEPS', { count: below(random, 3_000) }],
  (random) => ['ACTIVE_ENERGY', { kcal: below(random, 300) + 0.3 }],
  (random) => ['HEART_RATE', random() < 0.5 ? { bpm: 50 + below(random, 100) } : { resting: 50 + below(random, 20) }],
  (random) => ['WEIGHT', { kg: 60 + below(random, 9) }],
  () => ['FOOD', { name: 'Nasi', calories: 500.5 }],
  () => ['WATER', { ml: 250 }]
]

const squats = (random: Random) => [
  { name: 'Squat', sets: [{ reps: 5, weightKg: 50 + below(random, 10) }] },
  ...random() < 0.5 ? [{ name: 'Row', sets: [{ reps: 8, weightKg: 40 + below(random, 10) }] }] : []
]

/** Sends all versions in a random order, in batches, from wherever the person is at the time. Returns the account. */
async function arrive (random: Random, versions: object[]) {
  const accountId = randomUUID()
  const waiting = shuffle(versions, random)
  while (waiting.length > 0) {
    const parsedItems = waiting.splice(0, 1 + below(random, 12)).map((item) => parseItem(item, NOW))
    const results = await writeLogs(db, {
      accountId,
      zone: pick(random, zones),
      parsedItems,
      idempotencyKey: undefined
    })
    const rejected = results.find(({ status }) => status === 'rejected')
    if (rejected) throw new Error(rejected.error)
  }
  return accountId
}

/** Imports the copy of an account's data into a new account, whose id it returns. */
async function copyOf (accountId: string) {
  const { things, next } = await deps.erasure.readPersonalData({ accountId, after: null })
  if (next !== null) throw new Error('the data is more than a page')
  const { rows = [] } = things.find(({ name }) => name === 'logs') ?? {}
  const parsedItems = readTandem(Buffer.from(JSON.stringify(rows))).map(({ item, isSplit }) => {
    const parsed = parseItem(item, NOW)
    if (isRejected(parsed) || isDeleted(parsed)) throw new Error(JSON.stringify(parsed))
    return { ...parsed, isSplit }
  })
  const copyId = randomUUID()
  await writeLogs(db, { accountId: copyId, zone: 'Asia/Jakarta', parsedItems, idempotencyKey: undefined })
  return copyId
}

async function readWhatCounts (accountId: string) {
  const read = async (query: ReturnType<typeof sql>) => (await query.execute(db)).rows
  return {
    logs: await read(sql`
      select client_id, day::text, timezone, data, counts, session_data, is_split,
        (select array_agg(client_id order by client_id) from logs part where part.id = any(logs.parts)) as parts
      from logs where account_id = ${accountId} order by client_id`),
    summaries: await read(sql`select * from daily_summaries where account_id = ${accountId} order by day`)
      .then(withoutAccount),
    measurements: await read(sql`select * from daily_measurements where account_id = ${accountId} order by day`)
      .then(withoutAccount),
    totals: await read(sql`
      select xp, workouts, workout_minutes, food_entries, records, highest_level
      from totals where account_id = ${accountId}`),
    streaks: await read(
      sql`select kind, first_day, last_day from streaks where account_id = ${accountId} order by 1, 2`
    ),
    achievements: await read(sql`select achievement from achievements where account_id = ${accountId} order by 1`),
    lifts: await read(sql`
      select client_id, exercise_key, weight_kg, reps, is_record
      from lifts join logs on logs.id = log_id where lifts.account_id = ${accountId} order by 1, 2`),
    tombstones: await read(sql`
      select client_id, modified_at from deleted_logs where account_id = ${accountId} order by client_id`)
  }
}

const withoutAccount = (rows: unknown[]) => rows.map((row) => ({ ...Object(row), account_id: undefined }))

t.test(`${WORLDS} worlds of three sources, in ${ORDERS} orders each, have one result`, async (t) => {
  const random = seededRandom(t)
  for (let world = 0; world < WORLDS; world++) {
    const versions = createWorld(random)
    const randoms = Array.from({ length: ORDERS }, () => randomOfItsOwn(random))
    const accountIds = await Promise.all(randoms.map(async (own) => await arrive(own, versions)))
    const results = await Promise.all(accountIds.map(readWhatCounts))
    const different = results.find((result) => !isDeepStrictEqual(result, results[0])) ?? results[0]
    // A copy does not know what was deleted.
    const [expected, copied] = [results[0], await readWhatCounts(await copyOf(accountIds[0] ?? ''))]
      .map((result) => ({ ...result, tombstones: [] }))
    if (t.strictSame(different, results[0], `world ${world}`) && t.strictSame(copied, expected, `its copy`)) continue
    t.comment(JSON.stringify(versions))
    return
  }
})
