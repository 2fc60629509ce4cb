import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Unavailable } from '@tandem/process-kit'
import type { ImportFormat } from '../tables.ts'
import { HostileFile, REFUSED_CODE, type FormatOptions } from './formats/entries.ts'

const MEMORY_MB = 256
// Of what was read. A year of Apple's data, 200,000 records, is 15 MiB.
const MAX_BYTES = 50 * 1024 * 1024
const MAX_ENTRIES = 100_000

const program = path.join(import.meta.dirname, 'read-process.ts')
const root = path.resolve(import.meta.dirname, '../../..')
// All that it may read: code.
const code = ['services/dashboard', 'packages', 'node_modules'].map((folder) => path.join(root, folder))

type ReadOptions = FormatOptions & { format: ImportFormat }

/** The time was over before the file was read to its end. */
export class TooSlow extends HostileFile {}

/**
 * Reads a file in a process of its own, with limits of memory and time, that may read no other file.
 * @returns its entries, each as JSON: as objects they would take several times the memory
 * @throws HostileFile if it is not read to its end, and then nothing of it is stored; Unavailable if no process starts
 */
export async function readFileApart (file: Buffer, options: ReadOptions, deadlineMs: number): Promise<string[]> {
  const child = await start(options, deadlineMs)
  const closed = new Promise((resolve) => child.once('close', resolve))
  // A process that has ended takes no more input.
  child.stdin.on('error', () => {})
  child.stdin.end(file)
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2_000)
  })
  const lines: string[] = []
  let bytes = 0
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      bytes += line.length
      if (bytes > MAX_BYTES || lines.length > MAX_ENTRIES) throw new HostileFile('The file has too many entries')
    }
    await closed
  } finally {
    child.kill('SIGKILL')
  }
  if (child.exitCode === 0) return lines
  if (child.exitCode === REFUSED_CODE) throw new HostileFile(lines.at(-1))
  // An exception that nobody expected: an odd file, or a mistake of ours.
  if (child.exitCode !== null) throw new HostileFile('The file is damaged', { cause: new Error(stderr) })
  const message = 'The file could not be read to its end: it needs too much memory or time'
  throw child.signalCode === 'SIGKILL' ? new TooSlow(message) : new HostileFile(message)
}

async function start (options: ReadOptions, deadlineMs: number) {
  try {
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${MEMORY_MB}`,
        '--permission',
        ...code.map((folder) => `--allow-fs-read=${folder}`),
        program,
        JSON.stringify(options)
      ],
      { env: {}, stdio: ['pipe', 'pipe', 'pipe'], timeout: deadlineMs, killSignal: 'SIGKILL' }
    )
    // Without a listener, an error would end this process. Its end says what happened.
    child.on('error', () => {})
    await once(child, 'spawn')
    return child
  } catch (cause) {
    throw new Unavailable({ cause })
  }
}
