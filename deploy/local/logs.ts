import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { prettyFactory } from 'pino-pretty'
import { screen } from '@tandem/local-servers/screen.ts'

// Processes write directly to their log files, so none waits for the launcher, and no line is lost if the launcher
// dies. The launcher reads the files and shows a selection.

const POLL_INTERVAL_MS = 200
const WARNING_LINE = /"level":"(?:warn|error|fatal)"/

const pretty = prettyFactory({
  colorize: process.stdout.isTTY,
  ignore: 'pid,hostname,name',
  translateTime: 'HH:MM:ss.l',
  singleLine: true
})

/** Shows new lines of the logs: warnings, errors and lines that are not JSON; or `everything`. */
export function followLogs (dataDir: string, names: string[], { everything = false } = {}): () => void {
  const width = Math.max(...names.map((name) => name.length))
  const files = names.map((name) => ({
    label: name.padEnd(width),
    file: path.join(dataDir, 'logs', `${name}.log`),
    at: sizeOf(dataDir, name),
    rest: ''
  }))

  const timer = setInterval(() => {
    for (const log of files) {
      const { text, at } = readFrom(log.file, log.at)
      log.at = at
      const lines = (log.rest + text).split('\n')
      log.rest = lines.pop() ?? ''
      for (const line of lines) {
        const plain = !line.startsWith('{')
        if (line && (everything || plain || WARNING_LINE.test(line))) {
          screen.line(`${log.label}  ${plain ? line : pretty(line).trimEnd()}`)
        }
      }
    }
  }, POLL_INTERVAL_MS)
  return () => clearInterval(timer)
}

function sizeOf (dataDir: string, name: string): number {
  return statSync(path.join(dataDir, 'logs', `${name}.log`), { throwIfNoEntry: false })?.size ?? 0
}

const buffer = Buffer.alloc(256 * 1024)

function readFrom (file: string, at: number): { text: string, at: number } {
  if (!statSync(file, { throwIfNoEntry: false })) return { text: '', at }
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    // A service under load can write faster than anyone reads: then only the newest lines are shown.
    const from = Math.max(at, size - buffer.length)
    const length = readSync(handle, buffer, 0, buffer.length, from)
    return { text: buffer.toString('utf8', 0, length), at: from + length }
  } finally {
    closeSync(handle)
  }
}
