import { Buffer } from 'node:buffer'
import type { ImportFormat } from '../tables.ts'
import { createAppleReader } from './formats/apple-health.ts'
import { readCsv } from './formats/csv.ts'
import { HostileFile, REFUSED_CODE, type Entry, type FormatOptions } from './formats/entries.ts'
import { readFit } from './formats/fit.ts'
import { readTandem } from './formats/tandem.ts'
import { readGpx, readTcx } from './formats/tracks.ts'
import { readZipped } from './formats/zip.ts'

// A process of its own, which reads one file from its input and writes its entries, one a line. What a file can do to it,
// it does to nobody else: it has no environment, little memory and little time.
const { format, ...options } = JSON.parse(process.argv[2] ?? '') as FormatOptions & { format: ImportFormat }

async function readInput () {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

// 25 MB, twenty times compressed. It is read as it comes.
const appleFile = {
  isWanted: (path: string) => /(?:^|\/)(?:export|Export)\.xml$/.test(path),
  maxBytes: 600 * 1024 * 1024
}
// It is in memory as a whole.
const tandemFile = { isWanted: (path: string) => path === 'dashboard/logs.json', maxBytes: 100 * 1024 * 1024 }
const exercisesFile = {
  isWanted: (path: string) => path === 'dashboard/custom_exercises.json',
  maxBytes: 1024 * 1024,
  isOptional: true
}

// The one who reads the lines ends one at these two characters as well.
const toLine = (entry: Entry) => JSON.stringify(entry).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
const write = (entry: Entry) => void process.stdout.write(`${toLine(entry)}\n`)

async function read (file: Buffer) {
  const writeAll = (entries: Entry[]) => entries.forEach(write)
  const isZip = file.subarray(0, 2).toString() === 'PK'
  if (format === 'FIT') writeAll(await readFit(file))
  else if (format === 'GPX') writeAll(readGpx(file))
  else if (format === 'TCX') writeAll(readTcx(file))
  else if (format === 'CSV') writeAll(readCsv(file, options))
  else if (format === 'TANDEM') {
    const [logs, exercises] = isZip
      ? [await collect(readZipped(file, tandemFile)), await collect(readZipped(file, exercisesFile))]
      : [file]
    writeAll(readTandem(logs, exercises))
  } else {
    const reader = createAppleReader(options, write)
    const decoder = new TextDecoder()
    const chunks = isZip ? readZipped(file, appleFile) : [file]
    for await (const chunk of chunks) reader.write(decoder.decode(chunk, { stream: true }))
    reader.close()
  }
}

async function collect (chunks: AsyncIterable<Buffer>) {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

try {
  await read(await readInput())
} catch (error) {
  if (!(error instanceof HostileFile)) throw error
  // It may quote the file, and Postgres stores no NUL.
  process.stdout.write(`${error.message.replaceAll(/[\s\p{Cc}]+/gu, ' ')}\n`)
  process.exitCode = REFUSED_CODE
}
