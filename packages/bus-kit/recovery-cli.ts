// Prepares NATS for a restored database (docs/operations.md).
import { readVariable } from '@tandem/process-kit'
import { connect } from 'nats'
import { parseNatsUrl } from './connection.ts'
import { deleteConsumers, deleteStreams } from './recovery.ts'

const [command, service] = process.argv.slice(2)
const url = readVariable('NATS_URL')
if (!url || !(command === 'streams' || command === 'consumers' && service)) {
  console.error(`usage: node packages/bus-kit/recovery-cli.ts <command>

  consumers <service>  deletes its consumers: it consumes everything again that is still in the streams
  streams              deletes all streams: the services publish the last 72 hours again

  NATS_URL  connects as the user \`operator\`, or set NATS_URL_FILE to a file that holds it`)
  process.exit(2)
}

const connection = await connect({ ...parseNatsUrl(url), timeout: 5_000 })
const deleted = service ? await deleteConsumers(connection, service) : await deleteStreams(connection)
await connection.close()
console.log(`deleted ${deleted.length === 0 ? 'nothing' : deleted.join(', ')}`)
