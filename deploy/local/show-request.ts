import { createReadStream, globSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { prettyFactory } from 'pino-pretty'

// `npm run logs -- <id>`: the log lines of one request from every process, in chronological order. The id is the
// response's `x-request-id`, or a trace id.

interface Line {
  time?: string
  name?: string
  requestId?: string
  traceId?: string
}

const [id] = process.argv.slice(2)
if (!id) {
  console.error('usage: npm run logs -- <x-request-id of a response, or trace id>')
  process.exit(1)
}

const folder = path.join(process.env['DATA_DIR'] ?? path.resolve(import.meta.dirname, '../../.data'), 'logs')
const files = globSync('*.log', { cwd: folder }).map((file) => path.join(folder, file))
const traces = new Set([id])
await readLines(({ requestId, traceId }) => {
  if (requestId === id && traceId) traces.add(traceId)
})
const found: { time: string, line: Line }[] = []
await readLines((line) => {
  if (line.requestId === id || (line.traceId && traces.has(line.traceId))) found.push({ time: line.time ?? '', line })
})

const pretty = prettyFactory({
  colorize: process.stdout.isTTY,
  ignore: 'pid,hostname,traceId',
  translateTime: 'HH:MM:ss.l',
  singleLine: true
})
for (const { line } of found.toSorted((one, other) => one.time.localeCompare(other.time))) {
  process.stdout.write(pretty(line))
}
if (found.length === 0) {
  console.error(`No log line in ${folder} belongs to ${id}`)
  process.exit(1)
}

async function readLines (read: (line: Line) => void) {
  for (const file of files) {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      // Parse only lines that contain the id or one of its traces.
      if (text.startsWith('{') && [...traces].some((each) => text.includes(each))) read(JSON.parse(text) as Line)
    }
  }
}
