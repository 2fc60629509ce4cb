import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

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

/** A zip of the files, one after the other, while it is read. Each is in `entries` before the next one is asked for. */
export async function* zip (files: AsyncIterable<File>, entries: Entry[]): AsyncGenerator<Buffer> {
  const archive = new ZipFile()
  const output = archive.outputStream.pipe(new PassThrough())
  archive.on('error', (error) => output.destroy(error))
  const stopped = new AbortController()
  const adding = addFiles(archive, files, entries, stopped.signal)
  adding.catch((error: Error) => output.destroy(error))
  try {
    yield* output as AsyncIterable<Buffer>
    await adding
  } finally {
    stopped.abort()
  }
}

async function addFiles (archive: ZipFile, files: AsyncIterable<File>, entries: Entry[], signal: AbortSignal) {
  for await (const { path, content, isStored = false } of files) {
    const measured = measure(content)
    const source = Readable.from(measured.chunks)
    archive.addReadStream(source, path, { compress: !isStored })
    try {
      await finished(source, { signal })
    } finally {
      source.destroy()
    }
    entries.push({ path, bytes: measured.length(), sha256: measured.digest() })
  }
  archive.end()
}

/** Counts and digests chunks while they are read. */
export function measure (source: Chunks) {
  const hash = createHash('sha256')
  let length = 0
  async function* chunks () {
    for await (const chunk of source) {
      hash.update(chunk)
      length += chunk.length
      yield chunk
    }
  }
  return { chunks: chunks(), length: () => length, digest: () => hash.digest('hex') }
}
