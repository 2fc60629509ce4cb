// Keeps the streams of the services it is given: one small process beside them, with a NATS user of its own.
import { readVariable } from '@tandem/database-kit'
import { connectBus, type Log } from './connection.ts'
import { startStreamManager, STREAM_MANAGER_USER } from './stream-keeper.ts'

const services = process.argv.slice(2)
const url = readVariable('NATS_URL')
const replicas = Number(process.env['STREAM_REPLICAS'] || 1)
if (!url || services.length === 0 || ![1, 2, 3, 4, 5].includes(replicas)) {
  console.error(`usage: node packages/bus-kit/streams-cli.ts <service>…

  NATS_URL         as the user \`${STREAM_MANAGER_USER}\`, or in a file: NATS_URL_FILE
  STREAM_REPLICAS  on how many servers each stream is kept, 1 to 5; 1 unless set. Read when a stream is made`)
  process.exit(2)
}

const log: Log = { info: write(30), warn: write(40), error: write(50) }
const bus = connectBus(url, { service: STREAM_MANAGER_USER, log })
const keeper = startStreamManager(bus, services, { replicas })

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void keeper.stop().then(async () => await bus.close()).then(() => process.exit(0))
  })
}

function write (level: number) {
  return (details: object, msg: string) => {
    const { err, ...rest } = details as { err?: unknown }
    console.log(JSON.stringify({ level, time: Date.now(), name: STREAM_MANAGER_USER, ...rest, ...(err instanceof Error && { err: err.message }), msg }))
  }
}
