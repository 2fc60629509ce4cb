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

const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'EIO', 'EMFILE', 'ENFILE']

/** Whether writing a file failed because the disk is full or broken, as opposed to what was to be written. */
export const isDiskError = (error: unknown) =>
  error instanceof Error && 'code' in error && DISK_ERRORS.includes(String(error.code))
