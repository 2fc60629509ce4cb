import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import path from 'node:path'
import { prettyFactory } from 'pino-pretty'
import { screen } from './screen.ts'

// Processes write straight into their files, so none waits for the launcher, and a launcher that dies takes no line with it.
// What belongs on the screen is read from there.

const EVERY = 200
const LINE_OF_INTEREST = /"level":"(?:warn|error|fatal)"/

const pretty = prettyFactory({ colorize: process.stdout.isTTY, ignore: 'pid,hostname,name', translateTime: 'HH:MM:ss.l', singleLine: true })

/** Shows what is written to the logs from now on: warnings, errors and what is not a log line at all; or `everything`. */
export function followLogs (dataDir: string, names: string[], { everything = false } = {}): () => void {
  const width = Math.max(...names.map((name) => name.length))
  const files = names.map((name) => ({ label: name.padEnd(width), file: path.join(dataDir, 'logs', `${name}.log`), at: sizeOf(dataDir, name), rest: '' }))

  const timer = setInterval(() => {
    for (const log of files) {
      const { text, at } = readFrom(log.file, log.at)
      log.at = at
      const lines = (log.rest + text).split('\n')
      log.rest = lines.pop() ?? ''
      for (const line of lines) {
        const plain = !line.startsWith('{')
        if (line && (everything || plain || LINE_OF_INTEREST.test(line))) screen.line(`${log.label}  ${plain ? line : pretty(line).trimEnd()}`)
      }
    }
  }, EVERY)
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
    // A service under load can write faster than a person reads: then only the newest lines are looked at.
    const from = Math.max(at, size - buffer.length)
    const length = readSync(handle, buffer, 0, buffer.length, from)
    return { text: buffer.toString('utf8', 0, length), at: from + length }
  } finally {
    closeSync(handle)
  }
}
