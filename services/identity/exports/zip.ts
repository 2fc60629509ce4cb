import { createHash } from 'node:crypto'
import { Readable, type PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>

/** A file of a zip, for its manifest. */
export interface Entry {
  path: string
  bytes: number
  sha256: string
}

/** A zip that is written one file after the other, with constant memory. `output` has to be read meanwhile. */
export function createZip () {
  const zip = new ZipFile()
  const entries: Entry[] = []
  // yazl types it as any readable stream.
  const output = zip.outputStream as PassThrough
  // `add` reports the error of a source, and who reads the output its own. Unheard, they would end the process.
  zip.on('error', () => {})
  output.on('error', () => {})
  return {
    output,
    entries,
    async add (path: string, source: Chunks, { compress = true } = {}) {
      const content = measure(source)
      const stream = Readable.from(content.chunks, { objectMode: false })
      zip.addReadStream(stream, path, { compress })
      await finished(stream)
      entries.push({ path, bytes: content.length(), sha256: content.digest() })
    },
    end: () => zip.end()
  }
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
