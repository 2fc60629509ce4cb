import { crc32 } from 'node:zlib'
import { fromBufferPromise } from 'yauzl'
import { HostileFile } from './entries.ts'

const MAX_ENTRIES = 100_000

export interface Wanted {
  isWanted: (path: string) => boolean
  maxBytes: number
  /** Whether a ZIP without it is read as if it were empty. */
  isOptional?: boolean
}

/** The chunks of the first file of a ZIP that is wanted; of the right length and checksum, or it fails. */
export async function* readZipped (file: Buffer, { isWanted, maxBytes, isOptional }: Wanted): AsyncGenerator<Buffer> {
  const zip = await fromBufferPromise(file, { lazyEntries: true }).catch(toHostile)
  if (zip.entryCount > MAX_ENTRIES) throw new HostileFile('The ZIP has too many files')
  try {
    for await (const entry of zip.eachEntry()) {
      if (!isWanted(entry.fileName)) continue
      if (entry.uncompressedSize > maxBytes) {
        throw new HostileFile('The file is too large when it is unpacked')
      }
      let checksum = 0
      // It ends with an error if the file is not as long as the ZIP says.
      for await (const chunk of await zip.openReadStreamPromise(entry) as AsyncIterable<Buffer>) {
        checksum = crc32(chunk, checksum)
        yield chunk
      }
      if (checksum !== entry.crc32) throw new HostileFile('The checksum of the file is wrong')
      return
    }
  } catch (error) {
    toHostile(error)
  }
  if (!isOptional) throw new HostileFile('The ZIP has no file of this kind')
}

function toHostile (error: unknown): never {
  throw error instanceof HostileFile ? error : new HostileFile(error instanceof Error ? error.message : String(error))
}
