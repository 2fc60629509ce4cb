import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { ImportFormat } from '../tables.ts'
import { HostileFile, type Entry, type FormatOptions } from './formats/entries.ts'

const DEADLINE_MS = 120_000
const MEMORY_MB = 512
// Of what was read. A year of Apple's data is a fifth of it.
const MAX_BYTES = 100 * 1024 * 1024
const MAX_ENTRIES = 100_000

export type ReadEntry = Entry & { isSplit?: boolean }

/**
 * Reads a file in a process of its own, with a limit of memory and time.
 * @throws HostileFile if it is not read to its end, so that nothing of it is stored
 */
export async function readFileApart (
  file: Buffer,
  options: FormatOptions & { format: ImportFormat }
): Promise<ReadEntry[]> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${MEMORY_MB}`, path.join(import.meta.dirname, 'read-process.ts'), JSON.stringify(options)],
    { env: {}, stdio: ['pipe', 'pipe', 'ignore'], timeout: DEADLINE_MS, killSignal: 'SIGKILL' }
  )
  // A process that has ended takes no more input.
  child.stdin.on('error', () => {})
  child.stdin.end(file)
  const entries: ReadEntry[] = []
  let bytes = 0
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      bytes += line.length
      const read = JSON.parse(line) as ReadEntry & { isEnd?: boolean, refusedBecause?: string }
      if (read.isEnd) return entries
      if (read.refusedBecause !== undefined) throw new HostileFile(read.refusedBecause)
      entries.push(read)
      if (bytes > MAX_BYTES || entries.length > MAX_ENTRIES) throw new HostileFile('The file has too many entries')
    }
  } finally {
    child.kill('SIGKILL')
  }
  throw new HostileFile('The file could not be read to its end: it needs too much memory or time')
}
