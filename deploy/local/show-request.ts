import path from 'node:path'
import { prettyFactory } from 'pino-pretty'
import { readRequestLines } from './dev-page/requests.ts'

// `npm run logs -- <id>`: the log lines of one request from every process, in chronological order. The id is the
// response's `x-request-id`, or a trace id.

const [id] = process.argv.slice(2)
if (!id) {
  console.error('usage: npm run logs -- <x-request-id of a response, or trace id>')
  process.exit(1)
}

const dataDir = process.env['DATA_DIR'] ?? path.resolve(import.meta.dirname, '../../.data')
const pretty = prettyFactory({
  colorize: process.stdout.isTTY,
  ignore: 'pid,hostname,traceId',
  translateTime: 'HH:MM:ss.l',
  singleLine: true
})
const lines = await readRequestLines(dataDir, id)
for (const line of lines) process.stdout.write(pretty(line))
if (lines.length === 0) {
  console.error(`No log line in ${path.join(dataDir, 'logs')} belongs to ${id}`)
  process.exit(1)
}
