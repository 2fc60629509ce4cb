import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { createLogger, readConfig, Urls } from '@tandem/process-kit'
import type { Tables } from '../tables.ts'
import { importPlaces } from './import.ts'

const usage =
  'usage: DATABASE_URL=postgres://… node services/fitmatch/places/cli.ts import <file> (or DATABASE_URL_FILE)'
const REPORT_INTERVAL_MS = 2_000
// A batch is larger than what a request writes, and nobody waits for it.
const TIMEOUT_FACTOR = 10

const [command, file] = process.argv.slice(2)
try {
  if (command !== 'import' || !file) throw new Error(usage)
  await run(file)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function run (file: string) {
  const { DATABASE_URL } = readConfig(Type.Object({ DATABASE_URL: Urls() }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('places'), timeoutFactor: TIMEOUT_FACTOR })
  let reportedAt = 0
  const { records, places } = await importPlaces(db, file, ({ records, places, progress }) => {
    if (Date.now() - reportedAt < REPORT_INTERVAL_MS) return
    reportedAt = Date.now()
    console.log(`${Math.floor(100 * progress)} %: ${places} gyms in ${records} records`)
  }).finally(async () => await db.destroy())
  if (places === 0) {
    throw new Error(
      `None of ${records} records is a gym with an id and a name. A file has a GeoJSON feature on each line, or is GeoParquet`
    )
  }
  console.log(`Imported ${places} gyms of ${records} records`)
}
