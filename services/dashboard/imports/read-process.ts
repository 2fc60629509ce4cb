import { Buffer } from 'node:buffer'
import type { ImportFormat } from '../tables.ts'
import { HostileFile, REFUSED_CODE, type Entry, type FormatOptions } from './formats/entries.ts'
import type { Wanted } from './formats/zip.ts'

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

// Each format loads only its own reader: all of them take longer to load than most files to be read.
async function read (file: Buffer) {
  const writeAll = (entries: Entry[]) => entries.forEach(write)
  const isZip = file.subarray(0, 2).toString() === 'PK'
  if (format === 'FIT') {
    const { readFit } = await import('./formats/fit.ts')
    writeAll(await readFit(file))
  } else if (format === 'GPX' || format === 'TCX') {
    const { readGpx, readTcx } = await import('./formats/tracks.ts')
    writeAll(format === 'GPX' ? readGpx(file) : readTcx(file))
  } else if (format === 'CSV') {
    const { readCsv } = await import('./formats/csv.ts')
    writeAll(readCsv(file, options))
  } else if (format === 'TANDEM') {
    const { readTandem } = await import('./formats/tandem.ts')
    const [logs, exercises] = isZip
      ? [await collect(unzip(file, tandemFile)), await collect(unzip(file, exercisesFile))]
      : [file]
    writeAll(readTandem(logs, exercises))
  } else {
    const { createAppleReader } = await import('./formats/apple-health.ts')
    const reader = createAppleReader(options, write)
    const decoder = new TextDecoder()
    const chunks = isZip ? unzip(file, appleFile) : [file]
    for await (const chunk of chunks) reader.write(decoder.decode(chunk, { stream: true }))
    reader.close()
  }
}

async function* unzip (file: Buffer, wanted: Wanted) {
  const { readZipped } = await import('./formats/zip.ts')
  yield* readZipped(file, wanted)
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
