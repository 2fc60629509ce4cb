// Creates and purges the streams of the given services: a small process with its own NATS user.
import { readVariable, serveMetrics } from '@tandem/process-kit'
import { connectBus, type Log } from './connection.ts'
import { startStreamManager, STREAM_MANAGER_USER } from './stream-manager.ts'

const services = process.argv.slice(2)
const url = readVariable('NATS_URL')
const replicas = Number(process.env['STREAM_REPLICAS'] || 1)
const maxMib = Number(process.env['STREAM_MAX_MIB'] || 256)
const isSizeValid = Number.isInteger(maxMib) && maxMib >= 1
if (!url || services.length === 0 || ![1, 2, 3, 4, 5].includes(replicas) || !isSizeValid) {
  console.error(`usage: node packages/bus-kit/streams-cli.ts <service>…

  NATS_URL         connects as the user \`${STREAM_MANAGER_USER}\`, or set NATS_URL_FILE to a file that holds it
  STREAM_REPLICAS  the number of replicas of each stream, 1 to 5, by default 1. Used when a stream is created
  STREAM_MAX_MIB   the size of each stream in MiB, by default 256: NATS reserves it on its disk. Used when a stream is created
  METRICS_PORT     where GET /metrics is served, at the address HOST, by default 127.0.0.1; without it, nowhere`)
  process.exit(2)
}

const log: Log = { info: write(30), warn: write(40), error: write(50) }
const bus = connectBus(url, { service: STREAM_MANAGER_USER, log })
const streamManager = startStreamManager(bus, services, { replicas, maxMib })
const metricsPort = process.env['METRICS_PORT']
await serveMetrics(metricsPort ? Number(metricsPort) : undefined, process.env['HOST'])

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void streamManager.stop().then(async () => await bus.close()).then(() => process.exit(0))
  })
}

function write (level: number) {
  return (details: object, msg: string) => {
    const { err, ...rest } = details as { err?: unknown }
    console.log(
      JSON.stringify({
        level,
        time: Date.now(),
        name: STREAM_MANAGER_USER,
        ...rest,
        ...(err instanceof Error && { err: err.message }),
        msg
      })
    )
  }
}
