import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { CompiledQuery } from 'kysely'
import type { Db } from '../tables.ts'
import { watch } from './watch.ts'

interface Script {
  folder: string
  name: string
  read: (db: Db, reader: string, page: { limit: number }) => Promise<unknown>
}

/**
 * Writes a script for pgbench for the page of each reader, with its values as literals, so that pgbench has no work but
 * sending it.
 */
export async function writeScripts (db: Db, people: string[], { folder, name, read }: Script) {
  const { watched, lastQuery } = watch(db)
  const files: string[] = []
  for (const reader of people) {
    await read(watched, reader, { limit: 20 })
    const file = path.join(folder, `${name}-${reader}.sql`)
    await writeFile(file, `${withLiterals(lastQuery()).replaceAll(/\s+/g, ' ')};\n`)
    files.push(file)
  }
  return files
}

const withLiterals = ({ sql, parameters }: CompiledQuery) =>
  sql.replaceAll(/\$(\d+)/g, (_, number) => `'${String(parameters[Number(number) - 1])}'`)
