import { Unavailable } from './errors.ts'

/**
 * Bounds what the uploads of a process take of its disk together. Bytes are counted, not uploads: slow ones take little.
 * The returned function begins an upload.
 */
export function createDiskLimit () {
  let heldBytes = 0

  return (maxBytes: number) => {
    let bytes = 0
    return {
      /** Passes on chunks on their way to the disk. @throws Unavailable if all uploads take more than `maxBytes` */
      async *count (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length
          heldBytes += chunk.length
          if (heldBytes > maxBytes) throw new Unavailable()
          yield chunk
        }
      },
      /** Call it once the files of the upload are removed. */
      free () {
        heldBytes -= bytes
        bytes = 0
      }
    }
  }
}
