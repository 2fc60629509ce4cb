import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'
import { descriptorOf, directoryEntryOf, endOf, localHeaderOf, toDosTime } from './zip-records.ts'

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>

export interface File {
  path: string
  content: Chunks
  /** It is compressed already, as images are. */
  isStored?: boolean
}

/** A file of a zip, for its manifest. */
export interface Entry {
  path: string
  bytes: number
  sha256: string
}

/**
 * A zip of the files, one after the other, while it is read. Each is in `entries` before the next one is asked for.
 * It is written here because yazl sends each file through six streams, whose garbage made an export larger: see
 * docs/decisions/0027-exports-write-their-own-zip.md.
 */
export async function* zip (files: AsyncIterable<File>, entries: Entry[]): AsyncGenerator<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  const count = (chunk: Buffer) => {
    offset += chunk.length
    return chunk
  }
  for await (const { path, content, isStored = false } of files) {
    const measured = measure(content)
    const header = { name: Buffer.from(path), isCompressed: !isStored, modifiedAt: toDosTime(new Date()), offset }
    yield count(localHeaderOf(header))
    const start = offset
    for await (const chunk of isStored ? measured.chunks : deflate(measured.chunks)) yield count(chunk)
    const entry = { ...header, crc: measured.crc(), bytes: measured.length(), compressedBytes: offset - start }
    yield count(descriptorOf(entry))
    directory.push(directoryEntryOf(entry))
    entries.push({ path, bytes: measured.length(), sha256: measured.digest() })
  }
  const start = offset
  for (const entry of directory) yield count(entry)
  yield endOf({ count: directory.length, bytes: offset - start, offset: start })
}

async function* deflate (chunks: AsyncIterable<Buffer>) {
  const deflated = createDeflateRaw()
  const writing = pipeline(chunks, deflated)
  // Reading `deflated` throws the same error.
  writing.catch(() => {})
  yield* deflated as AsyncIterable<Buffer>
  await writing
}

/** Counts and digests chunks while they are read. */
export function measure (source: Chunks) {
  const hash = createHash('sha256')
  let crc = 0
  let length = 0
  async function* chunks () {
    for await (const chunk of source) {
      hash.update(chunk)
      crc = crc32(chunk, crc)
      length += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), length: () => length, crc: () => crc, digest: () => hash.digest('hex') }
}
