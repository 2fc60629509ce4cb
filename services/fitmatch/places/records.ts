import { createReadStream, type ReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { getHeapStatistics } from 'node:v8'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema, type RowGroup } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

/** A feature of a file, as it stands there. */
export interface SourceRecord {
  id?: unknown
  geometry?: unknown
  properties?: unknown
}

export interface Batch {
  /** `undefined` for a line that is no feature. */
  records: (SourceRecord | undefined)[]
  /** How much of the file has been read, up to 1. */
  progress: number
}

const BATCH_SIZE = 2_000

/** Reads the records of a GeoParquet file, or of one with a GeoJSON feature on each line, after the first `skipped`. */
export async function* readRecords (file: string, skipped: number): AsyncGenerator<Batch> {
  yield* await isParquet(file) ? readParquet(file, skipped) : readLines(file, skipped)
}

async function isParquet (file: string) {
  await using handle = await open(file)
  const { buffer } = await handle.read({ buffer: Buffer.alloc(4) })
  return buffer.toString('latin1') === 'PAR1'
}

// What Overture and converters of OpenStreetMap name the columns that a place is made of.
const COLUMNS = [
  'id',
  'feature_id',
  'geometry',
  'tags',
  'names',
  'categories',
  'taxonomy',
  'brand',
  'addresses',
  'confidence',
  'operating_status'
]

async function* readParquet (path: string, skipped: number): AsyncGenerator<Batch> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const present = new Set(parquetSchema(metadata).children.map(({ element }) => element.name))
  const columns = COLUMNS.filter((name) => present.has(name))
  const total = Number(metadata.num_rows)
  let rowStart = 0
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows)
    if (rowEnd > skipped) {
      checkSize(group, columns)
      const rows: Record<string, unknown>[] = await parquetReadObjects({
        file,
        metadata,
        columns,
        compressors,
        rowStart,
        rowEnd
      })
      for (let from = Math.max(0, skipped - rowStart); from < rows.length; from += BATCH_SIZE) {
        const records = rows.slice(from, from + BATCH_SIZE).map(({ id, geometry, ...properties }) => ({
          id,
          geometry,
          properties
        }))
        yield { records, progress: (rowStart + from + records.length) / total }
      }
    }
    rowStart = rowEnd
  }
}

// Read as objects, a row group takes about six times as much.
const HEAP_PER_BYTE = 8
const MEBIBYTE = 1024 * 1024

/** @throws if a row group does not fit into the memory of this process, which would end it without a word */
function checkSize (group: RowGroup, columns: string[]) {
  const bytes = group.columns.flatMap(({ meta_data: column }) =>
    column && columns.includes(column.path_in_schema[0]!) ? Number(column.total_uncompressed_size) : 0
  ).reduce((sum, size) => sum + size)
  if (bytes * HEAP_PER_BYTE <= getHeapStatistics().heap_size_limit) return
  throw new Error(
    `A row group of the file has ${Math.ceil(bytes / MEBIBYTE)} MiB, too much for the memory of this process. ` +
      'Write it with smaller row groups, such as of 50,000 rows, or as lines of GeoJSON'
  )
}

async function* readLines (file: string, skipped: number): AsyncGenerator<Batch> {
  const { size } = await stat(file)
  const stream = createReadStream(file)
  let records: Batch['records'] = []
  let number = 0
  for await (const line of splitLines(stream)) {
    if (number++ < skipped) continue
    records.push(parseLine(line))
    if (records.length < BATCH_SIZE) continue
    yield { records, progress: stream.bytesRead / size }
    records = []
  }
  if (records.length > 0) yield { records, progress: 1 }
}

// A place with a detailed outline has some hundred KiB. A file without lines would not fit into the memory of the container.
const MAX_LINE = 16 * MEBIBYTE

async function* splitLines (stream: ReadStream) {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8')) {
    // Only the chunk is split: splitting the rest again with each chunk would take quadratic time for a long line.
    const [end, ...lines] = (chunk as string).split('\n')
    rest += end
    if (rest.length > MAX_LINE) {
      throw new Error('A line of the file is longer than 16 MiB: write each feature on a line')
    }
    if (lines.length === 0) continue
    yield rest
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

/** A sequence of features begins each with a record separator, and a collection ends each with a comma. */
function parseLine (line: string): SourceRecord | undefined {
  try {
    const feature = JSON.parse(line.replace(/^[\p{Cc}\ufeff]+/u, '').replace(/,\s*$/, '')) as SourceRecord | null
    return typeof feature === 'object' && feature?.geometry ? feature : undefined
  } catch {
    return undefined
  }
}
