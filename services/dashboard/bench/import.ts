import { performance } from 'node:perf_hooks'
import { silentLog } from '@tandem/http-kit/testing'
import t from 'tap'
import { ZipFile } from 'yazl'
import { createImport, startUndo, workOnImport } from '../imports/actions.ts'
import { readHome } from '../home/queries.ts'
import { testApp } from '../test/app.ts'

// A year of Apple Health: 200,000 records of a watch and a phone, a sleep a night and a workout every second day. Measures
// the import and the home screen before and after it. Run it as `npm test -- services/dashboard/bench/import.ts`.
const RECORDS = 200_000
const DAYS = 365
const PER_DAY = Math.ceil(RECORDS / DAYS)
const HOMES = 200

const { deps, db, newUser } = await testApp(t)
const { account: accountId } = newUser({ now: '2026-11-20T20:00:00Z', zone: 'Etc/UTC' })

const kinds = [
  ['HKQuantityTypeIdentifierHeartRate', 'count/min', 'Watch', 72],
  ['HKQuantityTypeIdentifierStepCount', 'count', 'Watch', 90],
  ['HKQuantityTypeIdentifierHeartRate', 'count/min', 'Watch', 80],
  ['HKQuantityTypeIdentifierStepCount', 'count', 'iPhone', 95],
  ['HKQuantityTypeIdentifierActiveEnergyBurned', 'kcal', 'Watch', 4.2],
  ['HKQuantityTypeIdentifierDistanceWalkingRunning', 'km', 'iPhone', 0.06]
] as const
const END_MS = Date.parse('2026-11-20T00:00:00Z')
const textOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} +0000`

function* lines () {
  yield '<?xml version="1.0"?><HealthData locale="en_ID">'
  for (let record = 0; record < RECORDS; record++) {
    const [type, unit, source, value] = kinds[record % kinds.length] ?? kinds[0]
    const day = Math.floor(record / PER_DAY)
    const start = END_MS - (DAYS - day) * 86_400_000 + record % PER_DAY * 150_000
    yield `<Record type="${type}" sourceName="${source}" sourceVersion="11" unit="${unit}" creationDate="${
      textOf(start)
    }" ` +
      `startDate="${textOf(start)}" endDate="${textOf(start + 120_000)}" value="${value + record % 7}"/>`
  }
  for (let day = 0; day < DAYS; day += 2) {
    const start = END_MS - (DAYS - day) * 86_400_000 + 61_200_000
    yield `<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch" ` +
      `startDate="${textOf(start)}" endDate="${textOf(start + 2_400_000)}"/>`
  }
  yield '</HealthData>'
}

async function time (work: () => Promise<unknown>) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function measureHome () {
  const taken: number[] = []
  for (let count = 0; count < HOMES; count++) {
    taken.push(await time(async () => await readHome(deps, { accountId, language: 'en' })))
  }
  return taken.toSorted((one, other) => one - other)[HOMES / 2] ?? 0
}

const zip = new ZipFile()
const xml = Buffer.from([...lines()].join('\n'))
zip.addBuffer(xml, 'apple_health_export/export.xml')
zip.end()
const file = Buffer.concat(await Array.fromAsync(zip.outputStream as AsyncIterable<Buffer>))
console.log(
  `${RECORDS} records: ${Math.round(xml.length / 1e6)} MB of XML, ${Math.round(file.length / 1e5) / 10} MB of ZIP`
)

await measureHome()
const before = await measureHome()
const id = await createImport(db, { accountId, file, format: 'APPLE_HEALTH', columns: null, timezone: 'Etc/UTC' })
const work = async () => await workOnImport({ ...deps, log: silentLog }, id)
const importMs = await time(work)
const report = await db.selectFrom('imports').where('id', '=', id)
  .select(['status', 'error', 'found', 'created', 'refused_count']).executeTakeFirstOrThrow()
console.log(`imported in ${(importMs / 1_000).toFixed(1)} s`, report)
console.log(`home: ${before.toFixed(2)} ms before, ${(await measureHome()).toFixed(2)} ms after (median of ${HOMES})`)
await startUndo(db, accountId, id)
console.log(`undone in ${((await time(work)) / 1_000).toFixed(1)} s`)
