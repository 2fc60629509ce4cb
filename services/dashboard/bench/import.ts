import { performance } from 'node:perf_hooks'
import { silentLog } from '@tandem/http-kit/testing'
import t from 'tap'
import { ZipFile } from 'yazl'
import { createImport, startUndo, workOnImport } from '../imports/actions.ts'
import { readHome } from '../home/queries.ts'
import { testApp } from '../test/app.ts'

// A year of Apple Health: 200,000 records of a watch and a phone, a sleep a night and a workout every second day. Measures
// the import, and the home screen beside that of a person who has the last month of it. Run it as
// `TEST_DATABASE_URL=postgres://… node services/dashboard/bench/import.ts`.
const DAYS = { month: 31, year: 365 }
const RECORDS_PER_DAY = 548
const HOMES = 500
const MAX_IMPORT_MS = 60_000
const MAX_HOME_FACTOR = 1.1

t.setTimeout(600_000)
const { deps, db, newUser } = await testApp(t)

const kinds = [
  ['HKQuantityTypeIdentifierHeartRate', 'count/min', 'Watch', 72],
  ['HKQuantityTypeIdentifierStepCount', 'count', 'Watch', 90],
  ['HKQuantityTypeIdentifierHeartRate', 'count/min', 'Watch', 80],
  ['HKQuantityTypeIdentifierStepCount', 'count', 'iPhone', 95],
  ['HKQuantityTypeIdentifierActiveEnergyBurned', 'kcal', 'Watch', 4.2],
  ['HKQuantityTypeIdentifierDistanceWalkingRunning', 'km', 'iPhone', 0.06]
] as const
const DAY_MS = 86_400_000
const END_MS = Date.parse('2026-11-20T00:00:00Z')
const textOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} +0000`

function* lines (days: number) {
  yield '<?xml version="1.0"?><HealthData locale="en_ID">'
  for (let record = 0; record < days * RECORDS_PER_DAY; record++) {
    const [type, unit, source, value] = kinds[record % kinds.length] ?? kinds[0]
    const day = days - Math.floor(record / RECORDS_PER_DAY)
    const start = END_MS - day * DAY_MS + record % RECORDS_PER_DAY * 150_000
    yield `<Record type="${type}" sourceName="${source}" sourceVersion="11" unit="${unit}" creationDate="${
      textOf(start)
    }" ` +
      `startDate="${textOf(start)}" endDate="${textOf(start + 120_000)}" value="${value + record % 7}"/>`
  }
  for (let day = days; day > 0; day -= 2) {
    const start = END_MS - day * DAY_MS + 61_200_000
    yield `<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch" ` +
      `startDate="${textOf(start)}" endDate="${textOf(start + 2_400_000)}"/>`
  }
  yield '</HealthData>'
}

async function zipped (days: number) {
  const zip = new ZipFile()
  const xml = Buffer.from([...lines(days)].join('\n'))
  zip.addBuffer(xml, 'apple_health_export/export.xml')
  zip.end()
  const file = Buffer.concat(await Array.fromAsync(zip.outputStream as AsyncIterable<Buffer>))
  console.log(
    `${days} days: ${Math.round(xml.length / 1e6)} MB of XML, ${Math.round(file.length / 1e5) / 10} MB of ZIP`
  )
  return file
}

async function time (work: () => Promise<unknown>) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const work = async (id: string) => await workOnImport({ ...deps, log: silentLog }, id)

/** A new account that has imported so many days. */
async function importDays (days: number) {
  const { account: accountId } = newUser({ now: '2026-11-20T20:00:00Z', zone: 'Etc/UTC' })
  const file = await zipped(days)
  const id = await createImport(db, { accountId, file, format: 'APPLE_HEALTH', columns: null, timezone: 'Etc/UTC' })
  const ms = await time(async () => await work(id))
  const { status, found } = await db.selectFrom('imports').where('id', '=', id).select(['status', 'found'])
    .executeTakeFirstOrThrow()
  console.log(`${status}: ${found} entries in ${(ms / 1_000).toFixed(1)} s`)
  return { accountId, id, ms, status }
}

/** The median of reading the home screen of each account, in turns, so that both have the same machine. */
async function measureHomes (accountIds: string[]) {
  const taken = accountIds.map((): number[] => [])
  for (let count = 0; count < HOMES; count++) {
    for (const [index, accountId] of accountIds.entries()) {
      taken[index]?.push(await time(async () => await readHome(deps, { accountId, language: 'en' })))
    }
  }
  return taken.map((ms) => ms.toSorted((one, other) => one - other)[HOMES / 2] ?? 0)
}

t.test('a year of Apple Health is imported', async (t) => {
  const month = await importDays(DAYS.month)
  const year = await importDays(DAYS.year)
  t.equal(year.status, 'DONE')
  t.ok(year.ms < MAX_IMPORT_MS, 'the import takes less than a minute')
  const accountIds = [month.accountId, year.accountId]
  await measureHomes(accountIds)
  const [ofMonth = 0, ofYear = 0] = await measureHomes(accountIds)
  t.ok(ofYear < ofMonth * MAX_HOME_FACTOR, 'the home screen costs what it costs after a month')
  console.log(
    `home: ${ofMonth.toFixed(2)} ms after a month, ${ofYear.toFixed(2)} ms after a year (medians of ${HOMES})`
  )
  await startUndo(db, year.accountId, year.id)
  console.log(`the year is undone in ${((await time(async () => await work(year.id))) / 1_000).toFixed(1)} s`)
})
