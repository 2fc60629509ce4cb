import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'

/** Where a long body waits until it has arrived as a whole. */
export interface BodyStore {
  write(chunk: Buffer): Promise<void>
  /** The whole body. */
  read(): Readable
  /** Frees what the body takes. */
  free(): void
}

// Bodies are copied into blocks: one that arrives in pieces of a byte would take a hundred times its length.
export const BLOCK_BYTES = 64 * 1_024

/** @param acquireBlock waits until memory for one more block is free, and returns what frees it */
export function createMemoryStore (acquireBlock: () => Promise<() => void>): BodyStore {
  const blocks: Buffer[] = []
  const releases: (() => void)[] = []
  let used = BLOCK_BYTES
  let isFreed = false
  return {
    async write (chunk) {
      for (let stored = 0; stored < chunk.length;) {
        if (used === BLOCK_BYTES) {
          const release = await acquireBlock()
          if (isFreed) return release()
          releases.push(release)
          blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
          used = 0
        }
        const copied = chunk.copy(blocks.at(-1) as Buffer, used, stored)
        used += copied
        stored += copied
      }
    },
    read: () => Readable.from([...blocks.slice(0, -1), ...blocks.slice(-1).map((last) => last.subarray(0, used))]),
    free () {
      isFreed = true
      for (const release of releases.splice(0)) release()
    }
  }
}

/** A file without a name: it is gone when it is closed, or when the process ends, however that happens. */
export async function createFileStore (): Promise<BodyStore> {
  const name = path.join(tmpdir(), `tandem-body-${randomUUID()}`)
  const file = await open(name, 'wx+', 0o600)
  await unlink(name)
  let length = 0
  return {
    async write (chunk) {
      await file.appendFile(chunk)
      length += chunk.length
    },
    // It is closed by free(): a read that is still running ends before.
    read: () =>
      length === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: length - 1, autoClose: false }),
    free: () => void file.close().catch(() => {})
  }
}
