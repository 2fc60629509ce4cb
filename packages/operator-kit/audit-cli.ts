import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { connect } from '@tandem/database-kit'
import { readVariable } from '@tandem/process-kit'
import { findAuditFault, type AuditHead } from './audit.ts'
import type { AuditTables } from './tables.ts'

const usage =
  'usage: DATABASE_URL=postgres://… node packages/operator-kit/audit-cli.ts verify [<folder of stored heads>]'

const [command, folder] = process.argv.slice(2)
const url = readVariable('DATABASE_URL')
if (!url || command !== 'verify') {
  console.error(usage)
  process.exit(2)
}

const db = connect<AuditTables>(url, { log: { warn () {} }, maxConnections: 1 })
try {
  const fault = await findAuditFault(db, folder ? await readHeads(folder) : [])
  console.log(fault ? `The audit was changed: ${fault}.` : 'The audit is complete.')
  if (fault) process.exitCode = 1
} catch (error) {
  console.error(`Cannot read the audit: ${(error as Error).message}`)
  process.exitCode = 1
} finally {
  await db.destroy()
}

async function readHeads (from: string) {
  const names = (await readdir(from)).filter((name) => name.endsWith('.json'))
  return await Promise.all(
    names.map(async (name) => JSON.parse(await readFile(path.join(from, name), 'utf8')) as AuditHead)
  )
}
