import { parseArgs } from 'node:util'
import Type from 'typebox'
import { connect } from '@tandem/database-kit'
import { explainError } from '@tandem/http-kit'
import { createLogger, readConfig, Urls } from '@tandem/process-kit'
import type { Db, Tables } from '../tables.ts'
import { importPlaces } from './import.ts'
import { removePlace, restorePlace } from './removals.ts'

const usage = `usage, with DATABASE_URL or DATABASE_URL_FILE of fitmatch:
  places import <file> [--delete-missing]   with it, places of the same source that the file does not have are deleted
  places remove <placeId>                   no search finds it, and nothing brings it back
  places restore <placeId>                  the next import, or people, can bring it back`
const REPORT_INTERVAL_MS = 2_000
// A batch is larger than what a request writes, and nobody waits for it.
const TIMEOUT_FACTOR = 10

try {
  await run()
} catch (error) {
  console.error(explainError(error))
  process.exitCode = 1
}

async function run () {
  const { positionals: [command = '', subject], values } = parseArgs({
    allowPositionals: true,
    options: { 'delete-missing': { type: 'boolean', default: false } }
  })
  const commands: Record<string, (db: Db, subject: string) => Promise<void>> = {
    import: async (db, file) => await runImport(db, file, values['delete-missing']),
    remove: async (db, id) => {
      const name = await removePlace(db, id)
      if (name === undefined) throw new Error(`There is no place ${id}`)
      console.log(`Removed ${name}`)
    },
    restore: async (db, id) => {
      if (!await restorePlace(db, id)) throw new Error(`No place ${id} was removed`)
      console.log('The next import, or people within an hour, can bring it back')
    }
  }
  const work = commands[command]
  if (!work || !subject) throw new Error(usage)
  const { DATABASE_URL } = readConfig(Type.Object({ DATABASE_URL: Urls() }))
  const db = connect<Tables>(DATABASE_URL, { log: createLogger('places'), timeoutFactor: TIMEOUT_FACTOR })
  await work(db, subject).finally(async () => await db.destroy())
}

async function runImport (db: Db, file: string, deletesMissing: boolean) {
  let reportedAt = 0
  const { records, places, deleted } = await importPlaces(db, file, {
    deletesMissing,
    onProgress ({ records, places, progress }) {
      if (Date.now() - reportedAt < REPORT_INTERVAL_MS) return
      reportedAt = Date.now()
      console.log(`${Math.floor(100 * progress)} %: ${places} gyms in ${records} records`)
    }
  })
  if (places === 0) {
    throw new Error(
      `None of ${records} records is a gym with an id and a name. A file has a GeoJSON feature on each line, or is GeoParquet`
    )
  }
  console.log(`Imported ${places} gyms of ${records} records`)
  if (deletesMissing) console.log(`Deleted ${deleted} that the file does not have`)
}
