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
  const stops = names.map((name) =>
    followFile(path.join(dataDir, 'logs', `${name}.log`), (line) => {
      const plain = !line.startsWith('{')
      if (everything || plain || WARNING_LINE.test(line)) {
        screen.line(`${name.padEnd(width)}  ${plain ? line : pretty(line).trimEnd()}`)
      }
    }, { at: sizeOf(dataDir, name) })
  )
  return () => stops.forEach((stop) => stop())
}

/** Calls `show` for each line of a file that grows, from the byte `at` on. */
export function followFile (file: string, show: (line: string) => void, { at = 0 } = {}): () => void {
  let rest = ''
  const timer = setInterval(() => {
    const read = readFrom(file, at)
    at = read.at
    const lines = (rest + read.text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter(Boolean)) show(line)
  }, POLL_INTERVAL_MS)
  return () => clearInterval(timer)
}

function sizeOf (dataDir: string, name: string): number {
  return statSync(path.join(dataDir, 'logs', `${name}.log`), { throwIfNoEntry: false })?.size ?? 0
}

const buffer = Buffer.alloc(256 * 1024)

function readFrom (file: string, at: number): { text: string, at: number } {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch {
    // Its process has not started yet.
    return { text: '', at }
  }
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
