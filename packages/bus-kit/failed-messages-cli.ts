import { connect, readVariable } from '@tandem/database-kit'
import { requestReplay, listParked, type FailedMessageTables } from './failed-messages.ts'

const usage = 'usage: DATABASE_URL=postgres://… node packages/bus-kit/failed-messages-cli.ts list | replay <key>… | replay --all (or DATABASE_URL_FILE)'

const [command, ...keys] = process.argv.slice(2)
const url = readVariable('DATABASE_URL')
const known = command === 'list' && keys.length === 0 || command === 'replay' && keys.length > 0
if (!url || !known) {
  console.error(usage)
  process.exit(2)
}

const db = connect<FailedMessageTables>(url, { log: { warn () {} }, maxConnections: 1 })
try {
  if (command === 'list') await list()
  else await replay()
} catch (error) {
  console.error(`cannot read the failed messages: ${(error as Error).message}`)
  process.exitCode = 1
} finally {
  await db.destroy()
}

async function list () {
  const parked = await listParked(db)
  for (const { key, type, attempts, firstFailedAt, parkedAt, error } of parked) {
    console.log(`${key}  ${type}  parked ${parkedAt?.toISOString()}  after ${attempts} tries since ${firstFailedAt.toISOString()}`)
    console.log(`    ${error.replaceAll('\n', '\n    ')}`)
  }
  console.log(parked.length === 0 ? 'Nothing is parked.' : `${parked.length} parked.`)
}

async function replay () {
  const asked = await requestReplay(db, keys.includes('--all') ? 'all' : keys)
  console.log(`${asked} will be tried again by the running service.`)
  if (!keys.includes('--all') && asked < new Set(keys).size) {
    console.error('Not every key names a parked message.')
    process.exitCode = 1
  }
}
