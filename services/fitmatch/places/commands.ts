import { parseArgs } from 'node:util'
import { UsageError } from '@tandem/operator-kit'
import type { Db } from '../tables.ts'
import { importPlaces } from './import.ts'
import { removePlace, restorePlace } from './removals.ts'

export const usage = `usage, with DATABASE_URL or DATABASE_URL_FILE of fitmatch:
  places import <file> [--delete-missing]   with it, places of the same source that the file does not have are deleted
  places remove <placeId>                   no search finds it, and nothing brings it back
  places restore <placeId>                  the next import, or people, can bring it back`
const REPORT_INTERVAL_MS = 2_000

const commands: Record<string, (db: Db, subject: string, deletesMissing: boolean) => Promise<string>> = {
  import: runImport,
  async remove (db, id) {
    const name = await removePlace(db, id)
    if (name === undefined) throw new Error(`There is no place ${id}`)
    return `Removed ${name}`
  },
  async restore (db, id) {
    if (!await restorePlace(db, id)) throw new Error(`No place ${id} was removed`)
    return 'The next import, or people within an hour, can bring it back'
  }
}

/** Reads a command of the shell. @throws UsageError if the arguments are not one */
export function readCommand (args: string[]) {
  const { positionals: [command, subject, ...others], values } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'delete-missing': { type: 'boolean', default: false } }
  })
  const work = command !== undefined && Object.hasOwn(commands, command) ? commands[command] : undefined
  if (!work || !subject || others.length > 0) throw new UsageError()
  return async (db: Db) => await work(db, subject, values['delete-missing'])
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
  const imported = `Imported ${places} gyms of ${records} records`
  return deletesMissing ? `${imported}\nDeleted ${deleted} that the file does not have` : imported
}
