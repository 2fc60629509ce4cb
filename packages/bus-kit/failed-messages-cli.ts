import { connect } from '@tandem/database-kit'
import { readVariable } from '@tandem/process-kit'
import { requestReplay, listDeadLetters, type FailedMessageTables } from './failed-messages.ts'

const usage =
  'usage: DATABASE_URL=postgres://… node packages/bus-kit/failed-messages-cli.ts list | replay <key>… | replay --all (or DATABASE_URL_FILE)'

const [command, ...keys] = process.argv.slice(2)
const url = readVariable('DATABASE_URL')
const isValid = command === 'list' && keys.length === 0 || command === 'replay' && keys.length > 0
if (!url || !isValid) {
  console.error(usage)
  process.exit(2)
}

const db = connect<FailedMessageTables>(url, { log: { warn () {} }, maxConnections: 1 })
try {
  if (command === 'list') await list()
  else await replay()
} catch (error) {
  console.error(`Cannot read the failed messages: ${(error as Error).message}`)
  process.exitCode = 1
} finally {
  await db.destroy()
}

async function list () {
  const deadLetters = await listDeadLetters(db)
  for (const { key, type, attempts, firstFailedAt, deadSince, error } of deadLetters) {
    console.log(
      `${key}  ${type}  dead since ${deadSince?.toISOString()}  after ${attempts} attempts since ${firstFailedAt.toISOString()}`
    )
    console.log(`    ${error.replaceAll('\n', '\n    ')}`)
  }
  console.log(deadLetters.length === 0 ? 'There are no dead letters.' : `${deadLetters.length} dead letters.`)
}

async function replay () {
  const requested = await requestReplay(db, keys.includes('--all') ? 'all' : keys)
  console.log(`The running service will retry ${requested}.`)
  if (!keys.includes('--all') && requested < new Set(keys).size) {
    console.error('Some keys do not name a dead letter. Run `list` to see the keys.')
    process.exitCode = 1
  }
}
