import { createReadStream, globSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { followFile } from '../logs.ts'
import type { Feed } from './feed.ts'

export interface LogLine {
  time?: string
  name?: string
  msg?: string
  requestId?: string
  traceId?: string
}

/** Shows each request that the gateway has answered. */
export function watchRequests (dataDir: string, feed: Feed): () => void {
  return followFile(path.join(dataDir, 'logs', 'gateway.log'), (text) => {
    const line = parseLine(text)
    if (line?.msg === 'request completed') feed.add('requests', line)
  })
}

/** The log lines of one request from every process, in chronological order. @param id a request id or a trace id */
export async function readRequestLines (dataDir: string, id: string): Promise<LogLine[]> {
  const folder = path.join(dataDir, 'logs')
  const files = globSync('*.log', { cwd: folder }).map((file) => path.join(folder, file))
  const traces = new Set([id])
  await readLines(files, traces, ({ requestId, traceId }) => {
    if (requestId === id && traceId) traces.add(traceId)
  })
  const found: LogLine[] = []
  await readLines(files, traces, (line) => {
    if (line.requestId === id || line.traceId && traces.has(line.traceId)) found.push(line)
  })
  return found.sort((one, other) => (one.time ?? '').localeCompare(other.time ?? ''))
}

async function readLines (files: string[], traces: Set<string>, read: (line: LogLine) => void) {
  for (const file of files) {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      // Parse only lines that contain the id or one of its traces.
      const line = [...traces].some((each) => text.includes(each)) ? parseLine(text) : undefined
      if (line) read(line)
    }
  }
}

/** Undefined for what is no log line: a text of Node, or a line that a full disk has cut. */
function parseLine (text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return undefined
  }
}
